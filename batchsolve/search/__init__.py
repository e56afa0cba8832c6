"""The search: scheduler, goals and rows; no files, no joblib."""
