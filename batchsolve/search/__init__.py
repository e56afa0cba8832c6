"""The search: scheduler, goals, splitter, estimator; no files, no joblib."""
