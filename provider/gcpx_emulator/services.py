"""The services that are emulated. Importing a service registers its methods, permissions and settings."""
# ruff: noqa: F401 - see above

import gcpx_emulator.compute.service
import gcpx_emulator.iam.service
import gcpx_emulator.oauth2.service
import gcpx_emulator.oslogin.service
import gcpx_emulator.pubsub.service
import gcpx_emulator.storage.service
