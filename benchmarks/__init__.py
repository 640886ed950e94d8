"""Measurements of rulegrove beside its peers: problems, methods and report are separate files."""
