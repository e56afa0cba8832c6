"""Sources and sinks of tables of puzzles."""
