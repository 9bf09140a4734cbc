"""`make audit`: known vulnerabilities of the packages in requirements-dev.lock.

Exit code 0: none is known. 1: there are some. 3: the service that knows them was not reached, or it
does not know a package; that says nothing about the packages.
"""

import json
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).parent.parent / "requirements-dev.lock"
UNKNOWN = 3


def main() -> int:
    ran = subprocess.run(
        [sys.executable, "-m", "pip_audit", "-r", str(LOCK), "--disable-pip", "--require-hashes"]
        + ["--format", "json", "--progress-spinner", "off", "--timeout", "20"],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found = json.loads(ran.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = ran.stderr.strip().rpartition("\n")[2] or "it said nothing"
        print(f"Not audited: pip-audit could not look anything up ({last}).")
        return UNKNOWN
    vulnerable = [one for one in found if one.get("vulns")]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    for one in vulnerable:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "none"
            print(f"{one['name']} {one['version']}: {known['id']}, fixed in {fixed}")
    if skipped:
        print(f"Not audited: {len(skipped)} of {len(found)} are not known there: {skipped[0]} ...")
    if vulnerable:
        return 1
    audited = len(found) - len(skipped)
    if audited:
        print(f"{audited} packages audited, no known vulnerability.")
    return UNKNOWN if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
