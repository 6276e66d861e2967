"""Model files: how fitted estimators become arrays with a JSON header, and estimators again.

What is here knows no estimator. The classes that files may hold come in a `Registry`.
"""
