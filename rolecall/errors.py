"""The one tree of errors.

    RoleCallError
    ├── CampaignError            something about the folder
    │   ├── NoCampaign           there is no rolecall.yaml here or above
    │   ├── SettingsError        rolecall.yaml says something it cannot mean
    │   ├── DocumentError        a Markdown file that cannot be read or changed safely
    │   │   ├── Malformed        its structure is broken; it is left as it is
    │   │   └── Unclear          the place to change is missing or there are two of it
    │   ├── StorageError         the file system refused (unreadable, read-only, full)
    │   ├── Conflict             the file changed since it was read
    │   ├── Locked               another command is writing
    │   ├── GitTrouble           git is missing, or says no; never the end of a turn
    │   └── UnknownName          no entry, or more than one, has that name
    ├── SearchError              the index could not be used or rebuilt
    ├── ExchangeError            a file of another program that cannot be taken in, or not be written
    ├── ModelError               something about a language model
    │   ├── ModelSettings        a wrong key, name or request: told once, not retried
    │   ├── ModelUnavailable     no answer now: refused connection, 429, 5xx, time-out, blank answer
    │   ├── NoModel              every model of the chain failed, or there is none
    │   └── OverCeiling          the writer's ceiling leaves no money or tokens for this call
    ├── Enough                   whoever waited for a model was told to wait no longer
    └── TurnError                a turn could not be told; the action is kept as a draft

Each says which file (and line), what was wrong, and what to do next. `str(error)` is one line,
`FILE:LINE: what; what to do`. `hint` is an optional second line.
"""

from __future__ import annotations


class RoleCallError(Exception):
    """The root: a fault to be told to a person in one line, without a traceback.

    `path` is shown as given (relative to the campaign where there is one), `line` counts from 1.
    """

    def __init__(
        self,
        what: str,
        *,
        path: object = None,
        line: int | None = None,
        remedy: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.path = None if path is None else str(path)
        self.line = line
        self.remedy = remedy
        self.hint = hint

    def __str__(self) -> str:
        where = ""
        if self.path:
            where = f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        text = where + self.what + (f"; {self.remedy}" if self.remedy else "")
        return " ".join(text.split())


class CampaignError(RoleCallError):
    """Something about the campaign folder."""


class NoCampaign(CampaignError):
    """There is no `rolecall.yaml` in this folder or above it."""


class SettingsError(CampaignError):
    """`rolecall.yaml` is broken or says something it cannot mean."""


class DocumentError(CampaignError):
    """A Markdown file that cannot be read or changed safely; its bytes are untouched."""


class Malformed(DocumentError):
    """The file's structure is broken. It is never repaired by guess."""


class Unclear(DocumentError):
    """The place to change is missing, or there are two of it."""


class StorageError(CampaignError):
    """The file system refused: unreadable, read-only, full, gone."""


class Conflict(CampaignError):
    """The file changed since it was read; nothing was written."""


class Locked(CampaignError):
    """Another command holds the campaign's lock."""


class GitTrouble(CampaignError):
    """Git is missing, or says no: what it keeps waits for the next commit, and no turn ends for it."""


class UnknownName(CampaignError):
    """No entry, or more than one, goes by that name."""


class SearchError(RoleCallError):
    """The index could not be used or rebuilt."""


class ExchangeError(RoleCallError):
    """A file of another program that is broken, past all measure or unknown; nothing was changed."""


class ModelError(RoleCallError):
    """Something about a language model."""


class ModelSettings(ModelError):
    """A wrong key, model name or request: a fault of the settings, told once and not retried."""


class ModelUnavailable(ModelError):
    """No answer now: connection refused, 429, 5xx, overloaded, time-out, blank answer."""


class NoModel(ModelError):
    """Every model of the chain failed, or none is configured."""


class OverCeiling(ModelError):
    """The ceiling of `rolecall.yaml` leaves nothing for this call: it was not made."""


class Enough(RoleCallError):
    """The wait for a model was ended by whoever began it: no fault of the model's, and told to nobody."""


class TurnError(RoleCallError):
    """A turn could not be told; the campaign is untouched and the action kept as a draft."""
