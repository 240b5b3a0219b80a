"""Google's machine types and where they exist: tables that a person can compare with Google's pages.

The pages are https://docs.cloud.google.com/compute/docs/general-purpose-machines, compute-optimized-machines,
memory-optimized-machines, storage-optimized-machines, accelerator-optimized-machines and regions-zones. Names, vCPUs,
memory and zones are from the output of `gcloud compute machine-types list`: the types of 2026-07-01, their zones of
2026-05-20 and their regions of 2026-08-17. Both lists are published in the repositories
Cyclenerd/google-cloud-pricing-cost-calculator and anycloud-sh/catalog at GitHub. The numbers of local SSDs follow from
their capacity in the first, and from https://docs.cloud.google.com/compute/docs/disks/local-ssd.

Types without enough known data are missing: TPUs, A4X, C4N, M4N, X4, parts of a G4, and obsolete types.
"""

from __future__ import annotations

from typing import Final

TYPES: Final = """
a2-highgpu-*g               | 12=85 24=170 48=340 96=680             |        | nvidia-tesla-a100 1 2 4 8
a2-megagpu-*g               | 96=1360                                |        | nvidia-tesla-a100 16
a2-ultragpu-*g              | 12=170 24=340 48=680 96=1360           |        | nvidia-a100-80gb 1 2 4 8 | 1 2 4 8
a3-edgegpu-*g               | 208                                    | 9      | nvidia-h100-80gb 8 | 16
a3-edgegpu-*g-nolssd        | 208                                    | 9      | nvidia-h100-80gb 8
a3-highgpu-*g               | 26 52 104 208                          | 9      | nvidia-h100-80gb 1 2 4 8 | 2 4 8 16
a3-megagpu-*g               | 208                                    | 9      | nvidia-h100-mega-80gb 8 | 16
a3-ultragpu-*g              | 224=2952                               |        | nvidia-h200-141gb 8 | 32
a3-ultragpu-*g-nolssd       | 224=2952                               |        | nvidia-h200-141gb 8
a4-highgpu-*g               | 224=3968                               |        | nvidia-b200 8 | 32
c2-standard-*               | 4 8 16 30 60                           | 4
c2d-highcpu-*               | 2 4 8 16 32 56 112                     | 2
c2d-highmem-*               | 2 4 8 16 32 56 112                     | 8
c2d-standard-*              | 2 4 8 16 32 56 112                     | 4
c3-highcpu-*                | 4 8 22 44 88 176                       | 2
c3-highcpu-*-metal          | 192=512                                |
c3-highmem-*                | 4 8 22 44 88 176                       | 8
c3-highmem-*-metal          | 192                                    | 8
c3-standard-*               | 4 8 22 44 88 176                       | 4
c3-standard-*-lssd          | 4 8 22 44 88 176                       | 4      |  | 1 2 4 8 16 32
c3-standard-*-metal         | 192                                    | 4
c3d-highcpu-*               | 4 8 16 30=59 60=118 90=177 180=354 360=708 | 2
c3d-highmem-*               | 4 8 16 30 60 90 180 360                | 8
c3d-highmem-*-lssd          | 8 16 30 60 90 180 360                  | 8      |  | 1 1 2 4 8 16 32
c3d-standard-*              | 4 8 16 30 60 90 180 360                | 4
c3d-standard-*-lssd         | 8 16 30 60 90 180 360                  | 4      |  | 1 1 2 4 8 16 32
c4-highcpu-*                | 2 4 8 16 24 32 48 96 144 192 288       | 2
c4-highmem-*                | 2=15 4 8 16 24 32 48 96 144 192 288    | 7.75
c4-highmem-*-lssd           | 4 8 16 24 32 48 96 144 192 288         | 7.75   |  | 1 1 2 4 5 8 16 24 32 48
c4-highmem-*-metal          | 288                                    | 7.75
c4-highmem-*-lssd-metal     | 288                                    | 7.75   |  | 6
c4-standard-*               | 2=7 4 8 16 24 32 48 96 144 192 288     | 3.75
c4-standard-*-lssd          | 4 8 16 24 32 48 96 144 192 288         | 3.75   |  | 1 1 2 4 5 8 16 24 32 48
c4-standard-*-metal         | 288                                    | 3.75
c4-standard-*-lssd-metal    | 288                                    | 3.75   |  | 6
c4a-highcpu-*               | 1 2 4 8 16 32 48 64 72                 | 2
c4a-highmem-*               | 1 2 4 8 16 32 48 64 72                 | 8
c4a-highmem-*-lssd          | 4 8 16 32 48 64 72                     | 8      |  | 1 2 4 6 10 14 16
c4a-highmem-*-metal         | 96                                     | 8
c4a-standard-*              | 1 2 4 8 16 32 48 64 72                 | 4
c4a-standard-*-lssd         | 4 8 16 32 48 64 72                     | 4      |  | 1 2 4 6 10 14 16
c4d-highcpu-*               | 2=3 4=7 8 16 32 48 64 96 192 384       | 1.875
c4d-highcpu-*-metal         | 384                                    | 2
c4d-highmem-*               | 2=15 4=31 8 16 32 48 64 96 192 384     | 7.875
c4d-highmem-*-lssd          | 8 16 32 48 64 96 192 384               | 7.875  |  | 1 1 2 4 6 8 16 32
c4d-highmem-*-metal         | 384                                    | 8
c4d-standard-*              | 2=7 4=15 8 16 32 48 64 96 192 384      | 3.875
c4d-standard-*-lssd         | 8 16 32 48 64 96 192 384               | 3.875  |  | 1 1 2 4 6 8 16 32
c4d-standard-*-metal        | 384                                    | 4
e2-highcpu-*                | 2 4 8 16 32                            | 1
e2-highmem-*                | 2 4 8 16                               | 8
e2-medium                   | 2=4                                    |
e2-micro                    | 2=1                                    |
e2-small                    | 2=2                                    |
e2-standard-*               | 2 4 8 16 32                            | 4
f1-micro                    | 1=0.6                                  |
g1-small                    | 1=1.7                                  |
g2-standard-*               | 4 8 12 16 24 32 48 96                  | 4      | nvidia-l4 1 1 1 1 2 1 4 8
g4-standard-*               | 48 96 192 384                          | 3.75   | nvidia-rtx-pro-6000 1 2 4 8
h3-standard-*               | 88                                     | 4
h4d-highmem-*               | 192                                    | 7.75
h4d-highmem-*-lssd          | 192                                    | 7.75   |  | 10
h4d-standard-*              | 192                                    | 3.75
m1-megamem-*                | 96=1433.6                              |
m1-ultramem-*               | 40 80 160                              | 24.025
m2-hypermem-*               | 416=8832                               |
m2-megamem-*                | 416=5888                               |
m2-ultramem-*               | 208=5888 416=11776                     |
m3-megamem-*                | 64 128                                 | 15.25
m3-ultramem-*               | 32 64 128                              | 30.5
m4-hypermem-*               | 16 32 64                               | 15.5
m4-megamem-*                | 28=372 56=744 112=1488 224=2976        |
m4-ultramem-*               | 56=1488 112=2976 224=5952              |
n1-highcpu-*                | 2 4 8 16 32 64 96                      | 0.9
n1-highmem-*                | 2 4 8 16 32 64 96                      | 6.5
n1-megamem-*                | 96=1433.6                              |
n1-standard-*               | 1 2 4 8 16 32 64 96                    | 3.75
n1-ultramem-*               | 40 80 160                              | 24.025
n2-highcpu-*                | 2 4 8 16 32 48 64 80 96                | 1
n2-highmem-*                | 2 4 8 16 32 48 64 80 96 128=864        | 8
n2-standard-*               | 2 4 8 16 32 48 64 80 96 128            | 4
n2d-highcpu-*               | 2 4 8 16 32 48 64 80 96 128 224        | 1
n2d-highmem-*               | 2 4 8 16 32 48 64 80 96                | 8
n2d-standard-*              | 2 4 8 16 32 48 64 80 96 128 224        | 4
n4-highcpu-*                | 2 4 8 16 32 48 64 80                   | 2
n4-highmem-*                | 2 4 8 16 32 48 64 80                   | 8
n4-standard-*               | 2 4 8 16 32 48 64 80                   | 4
n4a-highcpu-*               | 1 2 4 8 16 32 48 64                    | 2
n4a-highmem-*               | 1 2 4 8 16 32 48 64                    | 8
n4a-standard-*              | 1 2 4 8 16 32 48 64                    | 4
n4d-highcpu-*               | 2 4 8 16 32 48 64 80 96                | 2
n4d-highmem-*               | 2 4 8 16 32 48 64 80 96                | 8
n4d-standard-*              | 2 4 8 16 32 48 64 80 96                | 4
t2a-standard-*              | 1 2 4 8 16 32 48                       | 4
t2d-standard-*              | 1 2 4 8 16 32 48 60                    | 4
z3-highmem-*                | 88 176                                 | 8
z3-highmem-*-highlssd       | 8 16 22 32 44 88                       | 8      |  | 1 2 3 4 6 12
z3-highmem-*-standardlssd   | 14 22 44 88 176                        | 8      |  | 1 2 3 6 12
z3-highmem-*-highlssd-metal | 192                                    | 8      |  | 12
"""
"""Kinds of machine types: name | vCPUs | GB of memory for each vCPU | accelerators | local SSDs that are included.

`*` in a name is the number of vCPUs, and `*g` that of accelerators. `2=7` is 2 vCPUs with 7 GB of memory.
Several numbers of accelerators or local SSDs belong to the numbers of vCPUs in the same order.
"""
SHARED_CORE: Final = frozenset({"e2-medium", "e2-micro", "e2-small", "f1-micro", "g1-small"})
ARM: Final = frozenset({"c4a", "n4a", "t2a"})
"""The series with Arm processors; all others have x86 processors."""
DEPRECATED: Final = frozenset({"n1-megamem-*", "n1-ultramem-*", "z3-highmem-*"})
INTERCHANGEABLE: Final = frozenset(
    "c2 c2d custom e2 f1 g1 m1 m2 n1 n2 n2d t2d".split()  # noqa: SIM905 - like the tables
)
"""The series between which an instance's machine type can change; `custom` stands for custom types of N1."""
WITH_PERSISTENT_DISKS: Final = frozenset(
    "a2 c2 c2d c3 c3d e2 f1 g1 g2 m1 m2 m3 n1 n2 n2d t2a t2d".split()  # noqa: SIM905 - like the tables
)
"""The series with the usual limits of persistent disks. The limits of other series are not known."""
WITHOUT_HYPERDISKS: Final = frozenset({"e2", "f1", "g1", "n1"})
WITHOUT_BALANCED_HYPERDISKS: Final = WITHOUT_HYPERDISKS | {"n2", "n2d"}
WITHOUT_LOCAL_SSDS: Final = frozenset({"e2", "f1", "g1", "n4", "n4d", "t2a", "t2d"})
"""The series that cannot have these disks.

Source: https://docs.cloud.google.com/compute/docs/disks/hd-types/hyperdisk-balanced and .../disks/local-ssd. What is
not known is accepted.
"""
FOR_N1: Final = {
    "nvidia-tesla-p100": "asia-east1-ac australia-southeast1-c europe-west1-bd europe-west4-a us-central1-cf "
    "us-east1-bc us-west1-ab",
    "nvidia-tesla-p4": "asia-southeast1-bc australia-southeast1-ab europe-west4-bc northamerica-northeast1 "
    "us-central1-ac us-east4 us-west2-bc",
    "nvidia-tesla-t4": "asia-east1-ac asia-northeast1-ac asia-south1-ab asia-southeast1 australia-southeast1-ac "
    "europe-west1 europe-west2-ab europe-west3-b europe-west4 northamerica-northeast1-c southamerica-east1-ac "
    "us-central1 us-east1-cd us-east4 us-west1-ab us-west2-bc us-west4-ab",
    "nvidia-tesla-v100": "asia-east1-c europe-west4 us-central1 us-east1-c us-west1-ab",
}
"""The accelerators that are attached to machine types of N1, with their zones as in ZONES.

All others come with machine types of their own, and are where these are. Source:
https://docs.cloud.google.com/compute/docs/gpus and .../gpus/gpu-regions-zones. The zones in the USA are as in the
repository skypilot-org/skypilot-catalog at GitHub, which was made from that page; the others are an assumption.
"""

ZONES: Final = """
a2-highgpu-*g
    asia-northeast1-ac asia-southeast1 europe-west4-ab us-central1 us-east1-b us-west1-b us-west4-b
a2-megagpu-*g
    asia-southeast1-ac europe-west4-ab us-central1
a2-ultragpu-*g
    asia-southeast1-c europe-west4-a us-central1-ac us-east4-c
a3-edgegpu-*g a3-edgegpu-*g-nolssd
    asia-northeast1-b asia-south1-c asia-southeast1-bc europe-west2-b europe-west3-ac europe-west4-bc
    europe-west9-c us-central1-abc us-east4 us-west1-ab us-west4-a
a3-highgpu-*g
    asia-east1-c asia-northeast1-b asia-south1-c asia-southeast1-bc australia-southeast1-c europe-north1-c
    europe-west1-bc europe-west3-c europe-west4-bc europe-west9-c us-central1-abc us-east4 us-west1-ab
    us-west4-a
a3-megagpu-*g
    asia-east1-c asia-northeast1-b asia-southeast1-bc australia-southeast1-c europe-north1-c europe-west1-bc
    europe-west3-c europe-west4-bc us-central1-abc us-east4 us-west1-ab us-west4-a
a3-ultragpu-*g a3-ultragpu-*g-nolssd
    asia-south1-b europe-west1-b europe-west4-a us-central1-b us-east4-b us-west1-c
a4-highgpu-*g
    asia-northeast1-b asia-southeast1-b europe-north1-b europe-west4-b us-central1-b us-east1-b us-east4-b
    us-west2-c
c2-standard-* f1-micro g1-small n1-highcpu-* n1-highmem-* n1-standard-*
    * -africa-south1 -europe-southwest1 -europe-west9
c2d-highcpu-* c2d-highmem-* c2d-standard-*
    africa-south1 asia-east1 asia-northeast1-bc asia-south1 asia-southeast1 australia-southeast1-a europe-southwest1-b
    europe-west1 europe-west2 europe-west3 europe-west4 northamerica-northeast1-ac southamerica-east1
    us-central1 us-east1 us-east4 us-west1 us-west2-ac us-west4
c3-highcpu-*
    asia-east1-ab asia-northeast1-bc asia-southeast1 australia-southeast1-c europe-west1 europe-west2-b
    europe-west3-ab europe-west4 northamerica-northeast1-bc southamerica-east1-a us-central1 us-east1 us-east4
    us-west1-bc us-west2 us-west4-a
c3-highcpu-*-metal
    asia-southeast1-ac europe-west1-bc europe-west4-bc us-central1-c us-east1-cd us-east4-ac us-west1-ab
c3-highmem-*
    asia-northeast1-bc asia-south1-bc asia-southeast1 europe-west1 europe-west2 europe-west3-bc europe-west4
    northamerica-northeast1-ab us-central1 us-east1 us-east4 us-west1 us-west2-bc us-west4-ab
c3-highmem-*-metal
    asia-east1-ac asia-south1-b asia-southeast1-a europe-west1-bc europe-west3-ab europe-west4-bc
    us-central1-a us-east1-cd us-east4-ac us-west1-ab
c3-standard-*
    asia-northeast1-bc asia-south1-bc asia-southeast1 australia-southeast1-ab europe-north1-b europe-west1
    europe-west2 europe-west3 europe-west4 europe-west9 northamerica-northeast1 southamerica-east1-ab
    us-central1 us-east1 us-east4 us-west1 us-west2 us-west4-ac
c3-standard-*-lssd
    asia-northeast1-b asia-south1 asia-southeast1 australia-southeast1 europe-west1 europe-west2-ac
    europe-west3 europe-west4 northamerica-northeast1-b southamerica-east1 us-central1-abc us-east1 us-east4
    us-west1-ab us-west4-ab
c3-standard-*-metal
    asia-southeast1-ac europe-west1-bc europe-west4-c us-central1-a us-east1-cd us-east4-ac us-west1-ab
c3d-highcpu-*
    asia-east1 asia-south1 asia-southeast1 australia-southeast1-c europe-west1 europe-west3 europe-west4
    us-central1 us-east1 us-east4 us-west1-ac us-west2-ac
c3d-highmem-*
    asia-east1 asia-south1 asia-southeast1 europe-west1 europe-west2-ab europe-west3 europe-west4 us-central1
    us-east1 us-east4 us-west1
c3d-highmem-*-lssd
    asia-east1-a asia-southeast1-a us-central1-acf us-east1-bd
c3d-standard-*
    asia-east1 asia-south1 asia-southeast1 australia-southeast1-c europe-north1-a europe-west1 europe-west3-ab
    europe-west4 us-central1 us-east1 us-east4 us-west1 us-west4-ab
c3d-standard-*-lssd
    asia-south1 asia-southeast1 europe-north1-a europe-west1 europe-west3-ab europe-west4 us-central1 us-east1
    us-east4 us-west4-a
c4-highcpu-* c4-highmem-*
    * -asia-northeast1-a -australia-southeast1-ab -northamerica-northeast1-c -southamerica-east1-c
c4-highcpu-144 c4-highcpu-288 c4-highmem-144 c4-highmem-288 c4-standard-144 c4-standard-288
    africa-south1 asia-east1 asia-northeast1-bc asia-south1 asia-southeast1 australia-southeast1-c europe-north1-bc
    europe-southwest1-bc europe-west1 europe-west2 europe-west3 europe-west4 europe-west9-ab
    northamerica-northeast1-ab southamerica-east1-ab us-central1 us-east1 us-east4 us-west1 us-west2-bc
    us-west4
c4-highmem-*-lssd c4-standard-*-lssd
    africa-south1 asia-east1-ac asia-northeast1-bc asia-south1-c asia-southeast1 europe-southwest1-b europe-west1
    europe-west2 europe-west3 europe-west4 europe-west9-a northamerica-northeast1-b southamerica-east1-a
    us-central1 us-east1 us-east4 us-west1 us-west2-c us-west4-ab
c4-highmem-*-metal
    asia-southeast1 europe-southwest1-b europe-west1-bc europe-west4-ab northamerica-northeast1-a us-central1
    us-east1 us-east4 us-west1 us-west4-b
c4-highmem-*-lssd-metal
    asia-southeast1 europe-southwest1-b europe-west1-bc europe-west4-ab us-central1 us-east1 us-east4 us-west1
    us-west4-b
c4-standard-*
    * -asia-northeast1-a -australia-southeast1-ab -northamerica-northeast1-c
c4-standard-*-metal c4-standard-*-lssd-metal
    asia-southeast1 europe-west1-bc europe-west4-ab us-central1 us-east1 us-east4 us-west1 us-west4-b
c4a-highcpu-* c4a-highmem-* c4a-highmem-*-lssd c4a-standard-* c4a-standard-*-lssd
    * -africa-south1 -europe-west9
c4a-highmem-*-metal
    asia-northeast1 europe-west3 europe-west4 us-central1 us-east4 us-west4
c4d-highcpu-* c4d-standard-*
    asia-northeast1-bc asia-south1-bc asia-southeast1 europe-west1 europe-west2 europe-west3 europe-west4
    us-central1 us-east1 us-east4 us-west1 us-west4
c4d-highcpu-*-metal c4d-highmem-*-metal
    asia-southeast1-b europe-west4-ab us-east4-b
c4d-highmem-*
    asia-northeast1-bc asia-south1-bc asia-southeast1 europe-west1-bc europe-west2 europe-west3 europe-west4
    europe-west9-ab us-central1 us-east1 us-east4 us-west1 us-west4-ab
c4d-highmem-*-lssd c4d-standard-*-lssd
    asia-northeast1-b asia-southeast1 europe-west1-b europe-west2-ac europe-west4 us-central1-abc us-east1
    us-east4
c4d-standard-*-metal
    asia-southeast1-b europe-west4-ab us-central1-b us-east4-b
e2-highcpu-* e2-highmem-* e2-medium e2-micro e2-small e2-standard-*
n2-highcpu-* n2-highmem-* n2-standard-* n2d-highcpu-* n2d-highmem-* n2d-standard-* t2d-standard-*
    *
g2-standard-*
    asia-east1 asia-northeast1 asia-south1 asia-southeast1 europe-west1-bc europe-west2-ab europe-west3-ab
    europe-west4 northamerica-northeast1-bc us-central1-abc us-east1 us-east4-ac us-west1 us-west4-ac
g4-standard-*
    asia-east1 asia-northeast1 asia-south1 asia-southeast1 europe-north1 europe-west1 europe-west2
    europe-west4 us-central1 us-east1 us-east4 us-west1 us-west4
g4-standard-384
    asia-east1 asia-northeast1 asia-south1 asia-southeast1 europe-north1 europe-west1 europe-west2
    europe-west4 southamerica-east1 us-central1 us-east1 us-east4 us-west1 us-west4
h3-standard-*
    europe-west4 northamerica-northeast1 us-central1
h4d-highmem-* h4d-highmem-*-lssd h4d-standard-*
    asia-south1 asia-southeast1 europe-west4 us-central1 us-east1 us-west4
m1-megamem-* n1-megamem-*
    asia-east1-ab asia-northeast1 asia-south1-ab asia-southeast1-ab europe-west1-bd europe-west2 europe-west3
    europe-west4-bc northamerica-northeast1-bc southamerica-east1-bc us-central1 us-east1 us-east4 us-west1-ab
    us-west2-bc us-west4-ab
m1-ultramem-* n1-ultramem-*
    asia-east1-bc asia-northeast1-ac asia-south1 asia-southeast1 australia-southeast1 europe-southwest1-ac
    europe-west1-bd europe-west2 europe-west3 europe-west4 europe-west9-bc northamerica-northeast1-bc
    southamerica-east1-bc us-central1-abc us-east1-bd us-east4 us-west1-ab us-west2-bc us-west4-ab
m2-hypermem-* m2-megamem-* m2-ultramem-*
    asia-northeast1 asia-south1 asia-southeast1 australia-southeast1 europe-southwest1 europe-west1
    europe-west2 europe-west3 europe-west4 northamerica-northeast1 southamerica-east1 us-central1 us-east4
    us-west4
m3-megamem-* m3-ultramem-*
    africa-south1-ac asia-east1-bc asia-northeast1 asia-south1 asia-southeast1-ab australia-southeast1-ac
    europe-north1-ac
    europe-southwest1-ac europe-west1-bd europe-west2 europe-west3 europe-west4-ab europe-west9-ab
    northamerica-northeast1-bc southamerica-east1-bc us-central1 us-east1-bd us-east4 us-west1 us-west4-ab
m4-hypermem-* m4-megamem-* m4-ultramem-*
    asia-south1 asia-southeast1 australia-southeast1 europe-southwest1 europe-west1 europe-west2 europe-west3
    europe-west4 northamerica-northeast1 southamerica-east1 us-central1 us-east1 us-east4 us-west1 us-west4
m4-ultramem-224
    asia-northeast1 asia-south1 asia-southeast1 europe-southwest1 europe-west1 europe-west2 europe-west3
    europe-west4 northamerica-northeast1 us-central1 us-east1 us-east4 us-west1 us-west4
n4-highcpu-* n4-highmem-* n4-standard-*
    * -northamerica-northeast1-c
n4a-highcpu-* n4a-highmem-* n4a-standard-*
    asia-south1 asia-southeast1 europe-west1 europe-west2 europe-west3 europe-west4 us-central1 us-east1
    us-east4 us-west1
n4d-highcpu-* n4d-highmem-* n4d-standard-*
    asia-south1 asia-southeast1 europe-west1 europe-west2 europe-west3 europe-west4 us-central1 us-east1
    us-east4 us-west1 us-west4
t2a-standard-*
    asia-southeast1-bc europe-west4 us-central1-abf
z3-highmem-* z3-highmem-*-highlssd z3-highmem-*-standardlssd
    asia-northeast1 asia-south1 asia-southeast1 australia-southeast1 europe-west1 europe-west2 europe-west3
    europe-west4 us-central1 us-east1 us-east4 us-west1
z3-highmem-*-highlssd-metal
    asia-east1 asia-northeast1 asia-south1 asia-southeast1 europe-west1 europe-west2 europe-west3 europe-west4
    southamerica-east1 us-central1 us-east1 us-east4 us-west2
"""
"""The zones of machine types: lines with names of TYPES or of single types, and below them the zones.

`us-central1-ac` are two zones, `us-central1` is all zones of the region, `*` is all zones, and `-` excludes. Of C4A,
G4, H3, H4D, M2, M4, N4A, N4D and Z3 only the regions are known; they stand for all of their zones.
"""

CUSTOM: Final = """
e2  | 2-32/2                  | 512 8192
g2  | 4 8 12 16 24 32 48 96   |
n1  | 1 2-96/2                | 922 6656 | ext
n2  | 2-32/2 36-128/4         | 512 8192 | ext
n2d | 2 4 8 16 32 48 64 80 96 | 512 8192 | ext
n4  | 2-80/2                  |          | ext
n4a | 1 2-64/2                |          | ext
n4d | 2-96/2                  |          | ext
"""
"""Series with custom types: series | vCPUs | least and most MB for each vCPU | whether `-ext` allows more memory.

`36-128/4` is 36 to 128 vCPUs in steps of 4. The numbers of E2, N1, N2 and N2D are those of Google's code samples, at
https://docs.cloud.google.com/compute/docs/samples/compute-custom-machine-type-helper-class. The vCPUs of the others are
within those of their other types; their memory limits are not known and therefore not checked.
"""
CUSTOM_SHARED_CORE: Final = {"medium": (4096, 8192), "micro": (1024, 2048), "small": (2048, 4096)}
"""The least and most MB of `e2-custom-SIZE-MEMORY`, from the same samples."""
