"""Runs gcpx against a real project, and compares what Google does with what gcpx assumes and the emulator answers."""
