"""Whether an interrupted command left something, asked before every command: so it asks little and imports little.

A note beside the records says that a rollback, an ingest or a renaming has begun; it is removed when that is done.
"""

from __future__ import annotations

from rolecall.campaign import chronicles, files, lock, records
from rolecall.campaign.folder import MACHINE_FOLDER, Campaign
from rolecall.errors import StorageError
from rolecall.exchange import importing
from rolecall.turn import courses

ROLLBACK = f"{MACHINE_FOLDER}/rollback.json"
INGEST = f"{MACHINE_FOLDER}/ingest.json"
RENAME = f"{MACHINE_FOLDER}/rename.json"


def is_left(campaign: Campaign) -> bool:
    """Whether there is something to put right before the campaign is read or changed."""
    root = campaign.root
    try:
        return (
            lock.left_behind(root)
            or records.newest_open(root) is not None
            or any(files.exists(root, note) for note in (ROLLBACK, INGEST, RENAME))
            or chronicles.unfinished(campaign) is not None
            or courses.is_other(campaign)
            or bool(importing.left(root))  # the disk refused it, and refused to have it taken back
        )
    except StorageError:
        return True  # a record that the disk does not give out now: whoever writes is told
