"""Runs gcpx against a real project, and compares Google with gcpx's assumptions and the emulator's answers."""
