"""Cases whose answers are recorded, so that a change of the code shows which of them differ.

A `Case` names a call and returns its answer in short texts: numbers, or digests of arrays. The
modules here build the cases, by engine and by command; ``scripts/record_answers.py`` writes their
answers to ``tests/answers.csv`` and compares.
"""
