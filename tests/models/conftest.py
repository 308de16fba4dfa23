"""The loopback server for every test of models, and an environment without keys."""

from tests.loopback.fixtures import clean_environment, loopback

__all__ = ["clean_environment", "loopback"]
