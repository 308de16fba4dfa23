"""Other people's formats, in and out: lorebooks, character cards, saves, vaults."""
