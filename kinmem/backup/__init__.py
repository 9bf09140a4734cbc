"""What is kept outside of the store and brought back. Backups of a home: made daily and before what
could go wrong, verified, restored, and reached by erasure. Exports of all that a Kin remembers, as
JSONL without loss or as Markdown to be read, and their import.
"""

FOLDER = "backups"
RESTORING = ".restoring"
BEGUN = "begun.json"
"""In the folder of prepared files once a restore has begun; names them."""
RESTORE_BEGUN = f"{FOLDER}/{RESTORING}/{BEGUN}"
