"""RoleCall: an AI game master that runs a roleplay campaign out of a folder of Markdown files."""

__version__ = "0.1.0"
