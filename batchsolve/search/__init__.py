"""The search: scheduler, goals and rows, without files and without joblib."""
