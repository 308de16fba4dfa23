"""Language models: neutral messages and events, one adapter per SDK, the fallback chain, usage and cost."""
