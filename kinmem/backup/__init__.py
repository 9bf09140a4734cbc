"""Backups of a home: made daily and before what could go wrong, verified, restored, and reached by
erasure."""

FOLDER = "backups"
RESTORING = ".restoring"
BEGUN = "begun.json"
"""In the folder of prepared files once a restore has begun; names them."""
RESTORE_BEGUN = f"{FOLDER}/{RESTORING}/{BEGUN}"
