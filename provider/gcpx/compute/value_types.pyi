# Generated from the declarations by tools/generate; do not change this file.
#
# The values of the declared records: plain dicts, in which every property may be missing. In a check or a preview, a
# value may also be unknown or secret; there, read it with the functions of gcpx.model.fields. In a patch, it may be
# None.

from typing import Any, TypedDict

class AcceleratorConfigValues(TypedDict, total=False):
    acceleratorCount: int
    acceleratorType: str

class AccessConfigValues(TypedDict, total=False):
    externalIpv6: str
    externalIpv6PrefixLength: int
    kind: str
    name: str
    natIP: str
    networkTier: str
    publicPtrDomainName: str
    securityPolicy: str
    setPublicPtr: bool
    type: str

class AdvancedMachineFeaturesValues(TypedDict, total=False):
    enableNestedVirtualization: bool
    enableUefiNetworking: bool
    performanceMonitoringUnit: str
    threadsPerCore: int
    turboMode: str
    visibleCoreCount: int

class AggregatedInstanceTemplatesValues(TypedDict, total=False):
    id: str
    items: dict[str, InstanceTemplatesScopedListValues]
    kind: str
    nextPageToken: str
    selfLink: str
    unreachables: list[str]
    warnings: list[ApiWarningValues]

class AggregatedInstancesValues(TypedDict, total=False):
    id: str
    items: dict[str, InstancesScopedListValues]
    kind: str
    nextPageToken: str
    selfLink: str
    unreachables: list[str]
    warnings: list[ApiWarningValues]

class AggregatedListParametersValues(TypedDict, total=False):
    filter: str
    includeAllScopes: bool
    itemFields: list[str]
    maxResults: int
    orderBy: str
    pageToken: str
    project: str
    returnPartialSuccess: bool
    serviceProjectNumber: str

class AliasIpRangeValues(TypedDict, total=False):
    candidateSubnetworkRangeNames: list[str]
    effectiveSubnetworkRangeName: str
    ipCidrRange: str
    subnetworkRangeName: str

class ApiWarningValues(TypedDict, total=False):
    code: str
    data: list[WarningDataValues]
    message: str

class AttachedDiskInitializeParamsValues(TypedDict, total=False):
    architecture: str
    description: str
    diskName: str
    diskSizeGb: int
    diskType: str
    enableConfidentialCompute: bool
    guestOsFeatures: list[GuestOsFeatureValues]
    labels: dict[str, str]
    licenses: list[str]
    multiWriter: bool
    onUpdateAction: str
    provisionedIops: int
    provisionedThroughput: int
    replicaZones: list[str]
    resourceManagerTags: dict[str, str]
    resourcePolicies: list[str]
    sourceImage: str
    sourceImageEncryptionKey: CustomerEncryptionKeyValues
    sourceInstantSnapshot: str
    sourceSnapshot: str
    sourceSnapshotEncryptionKey: CustomerEncryptionKeyValues
    storagePool: str

class AttachedDiskValues(TypedDict, total=False):
    architecture: str
    autoDelete: bool
    boot: bool
    deviceName: str
    diskEncryptionKey: CustomerEncryptionKeyValues
    diskSizeGb: int
    forceAttach: bool
    guestOsFeatures: list[GuestOsFeatureValues]
    index: int
    initializeParams: AttachedDiskInitializeParamsValues
    interface: str
    kind: str
    licenses: list[str]
    locked: bool
    mode: str
    savedState: str
    shieldedInstanceInitialState: InitialStateConfigValues
    source: str
    type: str
    userLicenses: list[str]

class BulkInsertProgressValues(TypedDict, total=False):
    perLocationStatus: dict[str, LocationStatusValues]

class BulkInstancesQueryValues(TypedDict, total=False):
    project: str
    region: str

class BulkInstancesValues(TypedDict, total=False):
    count: int
    fallbacks: list[FallbackValues]
    fleetId: str
    generation: str
    instanceFlexibilityPolicy: InstanceFlexibilityPolicyValues
    instanceProperties: InstancePropertiesValues
    lastMachineType: str
    lastRollingAction: str
    locationPolicy: LocationPolicyValues
    lostMembers: list[LostMemberValues]
    maxDeleted: int | str
    memberCount: int
    memberNames: list[str]
    members: list[MemberValues]
    minCount: int
    namePattern: str
    onStopped: str
    operationGroupId: str
    perInstanceProperties: dict[str, PerInstancePropertiesValues]
    perLocationStatus: dict[str, LocationStatusValues]
    placement: PlacementValues
    project: str
    region: str
    removedKeys: RemovedKeysValues
    rollingAction: RollingActionValues
    runningCount: int
    shortfalls: list[ShortfallValues]
    sourceInstanceTemplate: str
    updatePolicy: UpdatePolicyValues

class CommonMetadataProgressValues(TypedDict, total=False):
    clientOperationId: str
    perLocationOperations: dict[str, LocationOperationValues]

class ConfidentialInstanceConfigValues(TypedDict, total=False):
    confidentialInstanceType: str
    enableConfidentialCompute: bool

class CustomerEncryptionKeyValues(TypedDict, total=False):
    kmsKeyName: str
    kmsKeyServiceAccount: str
    rawKey: str
    rsaEncryptedKey: str
    sha256: str

class DeprecationStatusValues(TypedDict, total=False):
    deleted: str
    deprecated: str
    obsolete: str
    replacement: str
    state: str
    stateOverride: RolloutPolicyValues

class DiskAttachmentQueryValues(TypedDict, total=False):
    filter: str
    project: str
    zone: str

class DiskAttachmentValues(TypedDict, total=False):
    architecture: str
    autoDelete: bool
    boot: bool
    deviceName: str
    disk: str
    diskEncryptionKey: CustomerEncryptionKeyValues
    diskSizeGb: int
    forceAttach: bool
    guestOsFeatures: list[GuestOsFeatureValues]
    index: int
    instance: str
    interface: str
    kind: str
    licenses: list[str]
    locked: bool
    mode: str
    project: str
    savedState: str
    shieldedInstanceInitialState: InitialStateConfigValues
    type: str
    userLicenses: list[str]
    zone: str

class DiskInstantiationConfigValues(TypedDict, total=False):
    autoDelete: bool
    customImage: str
    deviceName: str
    instantiateFrom: str

class DisplayDeviceValues(TypedDict, total=False):
    enableDisplay: bool

class DurationValues(TypedDict, total=False):
    nanos: int
    seconds: int

class EffectiveInstanceMetadataValues(TypedDict, total=False):
    blockProjectSshKeysMetadataValue: bool
    enableGuestAttributesMetadataValue: bool
    enableOsInventoryMetadataValue: bool
    enableOsconfigMetadataValue: bool
    enableOsloginMetadataValue: bool
    gceContainerDeclarationMetadataValue: bool
    serialPortEnableMetadataValue: bool
    serialPortLoggingEnableMetadataValue: bool
    vmDnsSettingMetadataValue: str

class ErrorDetailValues(TypedDict, total=False):
    errorInfo: ErrorInfoValues
    help: HelpValues
    localizedMessage: LocalizedMessageValues
    quotaInfo: QuotaExceededInfoValues

class ErrorInfoValues(TypedDict, total=False):
    domain: str
    metadatas: dict[str, str]
    reason: str

class FallbackValues(TypedDict, total=False):
    instanceFlexibilityPolicy: InstanceFlexibilityPolicyValues
    machineType: str
    minCpuPlatform: str
    provisioningModel: str
    reservationAffinity: ReservationAffinityValues
    zones: list[str]

class FileContentBufferValues(TypedDict, total=False):
    content: str
    fileType: str

class GuestOsFeatureValues(TypedDict, total=False):
    type: str

class HealthInfoValues(TypedDict, total=False):
    availabilitySloStatus: str
    healthStatus: str
    repairCategory: str
    unhealthyReason: str
    updateTime: str

class HealthProgressValues(TypedDict, total=False):
    healthInfo: HealthInfoValues

class HelpLinkValues(TypedDict, total=False):
    description: str
    url: str

class HelpValues(TypedDict, total=False):
    links: list[HelpLinkValues]

class InitialStateConfigValues(TypedDict, total=False):
    dbs: list[FileContentBufferValues]
    dbxs: list[FileContentBufferValues]
    keks: list[FileContentBufferValues]
    pk: FileContentBufferValues

class InstanceFlexibilityPolicyValues(TypedDict, total=False):
    instanceSelections: dict[str, InstanceSelectionValues]

class InstanceParamsValues(TypedDict, total=False):
    requestValidForDuration: DurationValues
    resourceManagerTags: dict[str, str]

class InstancePropertiesValues(TypedDict, total=False):
    advancedMachineFeatures: AdvancedMachineFeaturesValues
    canIpForward: bool
    confidentialInstanceConfig: ConfidentialInstanceConfigValues
    description: str
    disks: list[AttachedDiskValues]
    displayDevice: DisplayDeviceValues
    guestAccelerators: list[AcceleratorConfigValues]
    keyRevocationActionType: str
    labels: dict[str, str]
    localSsdEncryptionMode: str
    machineType: str
    metadata: MetadataValues
    minCpuPlatform: str
    networkInterfaces: list[NetworkInterfaceValues]
    networkPerformanceConfig: NetworkPerformanceConfigValues
    partnerMetadata: dict[str, StructuredEntriesValues]
    postKeyRevocationActionType: str
    privateIpv6GoogleAccess: str
    reservationAffinity: ReservationAffinityValues
    resourceManagerTags: dict[str, str]
    resourcePolicies: list[str]
    scheduling: SchedulingValues
    serviceAccounts: list[ServiceAccountValues]
    shieldedInstanceConfig: ShieldedInstanceConfigValues
    shieldedVmConfig: ShieldedVmConfigValues
    tags: TagsValues
    workloadIdentityConfig: WorkloadIdentityConfigValues

class InstanceSelectionValues(TypedDict, total=False):
    disks: list[AttachedDiskValues]
    machineTypes: list[str]
    minCpuPlatform: str
    rank: int

class InstanceTemplateListParametersValues(TypedDict, total=False):
    filter: str
    itemFields: list[str]
    maxResults: int
    orderBy: str
    pageToken: str
    project: str
    returnPartialSuccess: bool
    view: str

class InstanceTemplateQueryValues(TypedDict, total=False):
    filter: str
    project: str
    region: str

class InstanceTemplateValues(TypedDict, total=False):
    creationTimestamp: str
    description: str
    kind: str
    name: str
    numericId: str
    project: str
    properties: InstancePropertiesValues
    region: str
    selfLink: str
    selfLinkUnique: str
    sourceInstance: str
    sourceInstanceParams: SourceInstanceParamsValues

class InstanceTemplatesScopedListValues(TypedDict, total=False):
    instanceTemplates: list[ListedInstanceTemplateValues]
    warnings: list[ApiWarningValues]

class InstanceTemplatesValues(TypedDict, total=False):
    id: str
    items: list[ListedInstanceTemplateValues]
    kind: str
    nextPageToken: str
    selfLink: str
    warnings: list[ApiWarningValues]

class InstanceValues(TypedDict, total=False):
    advancedMachineFeatures: AdvancedMachineFeaturesValues
    canIpForward: bool
    confidentialInstanceConfig: ConfidentialInstanceConfigValues
    cpuPlatform: str
    creationTimestamp: str
    deletionProtection: bool
    description: str
    disks: list[AttachedDiskValues]
    displayDevice: DisplayDeviceValues
    eraseWindowsVssSignature: bool
    fingerprint: str
    guestAccelerators: list[AcceleratorConfigValues]
    hostname: str
    id: str
    instanceEncryptionKey: CustomerEncryptionKeyValues
    keyRevocationActionType: str
    kind: str
    labelFingerprint: str
    labels: dict[str, str]
    lastStartTimestamp: str
    lastStopTimestamp: str
    lastSuspendedTimestamp: str
    localSsdEncryptionMode: str
    machineType: str
    metadata: MetadataValues
    minCpuPlatform: str
    name: str
    networkInterfaces: list[NetworkInterfaceValues]
    networkPerformanceConfig: NetworkPerformanceConfigValues
    params: InstanceParamsValues
    partnerMetadata: dict[str, StructuredEntriesValues]
    postKeyRevocationActionType: str
    privateIpv6GoogleAccess: str
    reservationAffinity: ReservationAffinityValues
    resourcePolicies: list[str]
    resourceStatus: ResourceStatusValues
    satisfiesPzi: bool
    satisfiesPzs: bool
    scheduling: SchedulingValues
    selfLink: str
    serviceAccounts: list[ServiceAccountValues]
    shieldedInstanceConfig: ShieldedInstanceConfigValues
    shieldedInstanceIntegrityPolicy: ShieldedInstanceIntegrityPolicyValues
    shieldedVmConfig: ShieldedVmConfigValues
    shieldedVmIntegrityPolicy: ShieldedVmIntegrityPolicyValues
    sourceMachineImage: str
    sourceMachineImageEncryptionKey: CustomerEncryptionKeyValues
    startRestricted: bool
    status: str
    statusMessage: str
    tags: TagsValues
    workloadIdentityConfig: WorkloadIdentityConfigValues
    zone: str

class InstancesScopedListValues(TypedDict, total=False):
    instances: list[InstanceValues]
    warnings: list[ApiWarningValues]

class ListedInstanceTemplateValues(TypedDict, total=False):
    creationTimestamp: str
    description: str
    id: str
    kind: str
    name: str
    properties: InstancePropertiesValues
    region: str
    selfLink: str
    sourceInstance: str
    sourceInstanceParams: SourceInstanceParamsValues

class LocalizedMessageValues(TypedDict, total=False):
    locale: str
    message: str

class LocationConstraintsValues(TypedDict, total=False):
    maxCount: int

class LocationOperationValues(TypedDict, total=False):
    error: StatusValues
    state: str

class LocationPolicyLocationValues(TypedDict, total=False):
    constraints: LocationConstraintsValues
    preference: str

class LocationPolicyValues(TypedDict, total=False):
    locations: dict[str, LocationPolicyLocationValues]
    targetShape: str
    zones: list[LocationPolicyZoneValues]

class LocationPolicyZoneValues(TypedDict, total=False):
    zone: str

class LocationStatusValues(TypedDict, total=False):
    createdVmCount: int
    deletedVmCount: int
    failedToCreateVmCount: int
    status: str
    targetVmCount: int

class LostMemberValues(TypedDict, total=False):
    name: str
    zone: str

class MachineImageParamsValues(TypedDict, total=False):
    excludedDisks: list[str]
    includedDisks: list[str]
    resourceManagerTags: dict[str, str]

class MachineImageQueryValues(TypedDict, total=False):
    filter: str
    project: str

class MachineImageValues(TypedDict, total=False):
    creationTimestamp: str
    description: str
    guestFlush: bool
    instanceProperties: InstancePropertiesValues
    kind: str
    labelFingerprint: str
    labels: dict[str, str]
    machineImageEncryptionKey: CustomerEncryptionKeyValues
    name: str
    numericId: str
    params: MachineImageParamsValues
    project: str
    satisfiesPzi: bool
    satisfiesPzs: bool
    savedDisks: list[SavedDiskValues]
    selfLink: str
    sourceDiskEncryptionKeys: list[SourceDiskEncryptionKeyValues]
    sourceInstance: str
    sourceInstanceProperties: SourceInstancePropertiesValues
    status: str
    storageLocations: list[str]
    totalStorageBytes: int

class MemberValues(TypedDict, total=False):
    differs: list[str]
    externalAddress: str
    fallback: int
    fallbackHash: str
    generation: str
    hostname: str
    id: str
    internalAddress: str
    localSsds: int
    machineType: str
    name: str
    own: list[str]
    rollingAction: str
    selfLink: str
    status: str
    stopReason: str
    zone: str

class MetadataItemValues(TypedDict, total=False):
    key: str
    value: str

class MetadataValues(TypedDict, total=False):
    fingerprint: str
    items: list[MetadataItemValues]
    kind: str

class NetworkInterfaceValues(TypedDict, total=False):
    accessConfigs: list[AccessConfigValues]
    aliasIpRanges: list[AliasIpRangeValues]
    aliasIpv6Ranges: list[AliasIpRangeValues]
    enableVpcScopedDns: bool
    fingerprint: str
    igmpQuery: str
    internalIpv6PrefixLength: int
    ipv6AccessConfigs: list[AccessConfigValues]
    ipv6AccessType: str
    ipv6Address: str
    kind: str
    macAddress: str
    name: str
    network: str
    networkAttachment: str
    networkIP: str
    nicType: str
    parentNicName: str
    queueCount: int
    serviceClassId: str
    stackType: str
    subnetwork: str
    vlan: int

class NetworkPerformanceConfigValues(TypedDict, total=False):
    totalEgressBandwidthTier: str

class OperationErrorValues(TypedDict, total=False):
    code: str
    errorDetails: list[ErrorDetailValues]
    location: str
    message: str

class OperationErrorsValues(TypedDict, total=False):
    errors: list[OperationErrorValues]

class OperationQueryValues(TypedDict, total=False):
    name: str
    project: str
    region: str
    zone: str

class OperationValues(TypedDict, total=False):
    clientOperationId: str
    creationTimestamp: str
    description: str
    endTime: str
    error: OperationErrorsValues
    getHealthOperationMetadata: HealthProgressValues
    getVersionOperationMetadata: VersionProgressValues
    httpErrorMessage: str
    httpErrorStatusCode: int
    id: str
    insertTime: str
    instancesBulkInsertOperationMetadata: BulkInsertProgressValues
    kind: str
    name: str
    operationGroupId: str
    operationType: str
    progress: int
    region: str
    selfLink: str
    setCommonInstanceMetadataOperationMetadata: CommonMetadataProgressValues
    startTime: str
    status: str
    statusMessage: str
    targetId: str
    targetLink: str
    user: str
    warnings: list[ApiWarningValues]
    zone: str

class PerInstancePropertiesValues(TypedDict, total=False):
    hostname: str
    name: str

class PhysicalHostTopologyValues(TypedDict, total=False):
    additionalAttributes: TopologyAttributesValues
    block: str
    cluster: str
    host: str
    machine: str
    subblock: str

class PlacementValues(TypedDict, total=False):
    membersPerPolicy: int
    policies: list[str]

class QuotaExceededInfoValues(TypedDict, total=False):
    dimensions: dict[str, str]
    futureLimit: float
    limit: float
    limitName: str
    metricName: str
    rolloutStatus: str

class QuotaValues(TypedDict, total=False):
    limit: float
    metric: str
    owner: str
    usage: float

class ReadinessValues(TypedDict, total=False):
    guestAttribute: str
    stableFor: int
    within: int

class RegionListParametersValues(TypedDict, total=False):
    filter: str
    itemFields: list[str]
    maxResults: int
    omitQuotas: bool
    orderBy: str
    pageToken: str
    project: str
    returnPartialSuccess: bool

class RegionValues(TypedDict, total=False):
    creationTimestamp: str
    deprecated: DeprecationStatusValues
    description: str
    id: str
    kind: str
    name: str
    quotaStatusWarning: ApiWarningValues
    quotas: list[QuotaValues]
    selfLink: str
    status: str
    supportsPzs: bool
    zones: list[str]

class RegionsValues(TypedDict, total=False):
    id: str
    items: list[RegionValues]
    kind: str
    nextPageToken: str
    selfLink: str
    warnings: list[ApiWarningValues]

class RemovedKeysValues(TypedDict, total=False):
    guestAccelerators: list[str]
    labels: list[str]
    machineType: list[str]
    metadata: list[str]
    minCpuPlatform: list[str]
    scheduling: list[str]
    serviceAccounts: list[str]
    tags: list[str]

class ReservationAffinityValues(TypedDict, total=False):
    consumeReservationType: str
    key: str
    values: list[str]

class ReservationConsumptionInfoValues(TypedDict, total=False):
    consumedReservation: str
    consumedReservationBlock: str
    consumedReservationSubBlock: str

class ResourceStatusSchedulingValues(TypedDict, total=False):
    availabilityDomain: int
    gracefulShutdownTimestamp: str
    terminationTimestamp: str

class ResourceStatusValues(TypedDict, total=False):
    effectiveInstanceMetadata: EffectiveInstanceMetadataValues
    physicalHost: str
    physicalHostTopology: PhysicalHostTopologyValues
    reservationConsumptionInfo: ReservationConsumptionInfoValues
    scheduling: ResourceStatusSchedulingValues
    shutdownDetails: ShutdownDetailsValues
    upcomingMaintenance: UpcomingMaintenanceValues

class RollingActionValues(TypedDict, total=False):
    action: str
    members: list[str]
    trigger: str

class RolloutPolicyValues(TypedDict, total=False):
    defaultRolloutTime: str
    locationRolloutPolicies: dict[str, str]

class SavedAttachedDiskValues(TypedDict, total=False):
    autoDelete: bool
    boot: bool
    deviceName: str
    diskEncryptionKey: CustomerEncryptionKeyValues
    diskSizeGb: int
    diskType: str
    guestOsFeatures: list[GuestOsFeatureValues]
    index: int
    interface: str
    kind: str
    licenses: list[str]
    mode: str
    source: str
    storageBytes: int
    storageBytesStatus: str
    type: str

class SavedDiskValues(TypedDict, total=False):
    architecture: str
    kind: str
    sourceDisk: str
    storageBytes: int
    storageBytesStatus: str

class SbomInfoValues(TypedDict, total=False):
    currentComponentVersions: dict[str, str]
    targetComponentVersions: dict[str, str]

class SchedulingGracefulShutdownValues(TypedDict, total=False):
    enabled: bool
    maxDuration: DurationValues

class SchedulingNodeAffinityValues(TypedDict, total=False):
    key: str
    operator: str
    values: list[str]

class SchedulingOnInstanceStopActionValues(TypedDict, total=False):
    discardLocalSsd: bool

class SchedulingValues(TypedDict, total=False):
    automaticRestart: bool
    availabilityDomain: int
    exposeHostTopology: bool
    gracefulShutdown: SchedulingGracefulShutdownValues
    hostErrorTimeoutSeconds: int
    instanceTerminationAction: str
    localSsdRecoveryTimeout: DurationValues
    locationHint: str
    maintenanceFreezeDurationHours: int
    maintenanceInterval: str
    maxRunDuration: DurationValues
    minNodeCpus: int
    nodeAffinities: list[SchedulingNodeAffinityValues]
    onHostMaintenance: str
    onInstanceStopAction: SchedulingOnInstanceStopActionValues
    preemptible: bool
    preemptionNoticeDuration: DurationValues
    provisioningModel: str
    skipGuestOsShutdown: bool
    terminationTime: str

class ServiceAccountValues(TypedDict, total=False):
    email: str
    scopes: list[str]

class ShieldedInstanceConfigValues(TypedDict, total=False):
    enableIntegrityMonitoring: bool
    enableSecureBoot: bool
    enableVtpm: bool

class ShieldedInstanceIntegrityPolicyValues(TypedDict, total=False):
    updateAutoLearnPolicy: bool

class ShieldedVmConfigValues(TypedDict, total=False):
    enableIntegrityMonitoring: bool
    enableSecureBoot: bool
    enableVtpm: bool

class ShieldedVmIntegrityPolicyValues(TypedDict, total=False):
    updateAutoLearnPolicy: bool

class ShortfallValues(TypedDict, total=False):
    cause: str
    count: int
    machineType: str
    message: str
    zone: str
    zonesWithRoom: list[str]

class ShutdownDetailsValues(TypedDict, total=False):
    maxDuration: DurationValues
    requestTimestamp: str
    stopState: str
    targetState: str

class SourceDiskEncryptionKeyValues(TypedDict, total=False):
    diskEncryptionKey: CustomerEncryptionKeyValues
    sourceDisk: str

class SourceInstanceParamsValues(TypedDict, total=False):
    diskConfigs: list[DiskInstantiationConfigValues]

class SourceInstancePropertiesValues(TypedDict, total=False):
    canIpForward: bool
    deletionProtection: bool
    description: str
    disks: list[SavedAttachedDiskValues]
    guestAccelerators: list[AcceleratorConfigValues]
    keyRevocationActionType: str
    labels: dict[str, str]
    machineType: str
    metadata: MetadataValues
    minCpuPlatform: str
    networkInterfaces: list[NetworkInterfaceValues]
    postKeyRevocationActionType: str
    scheduling: SchedulingValues
    serviceAccounts: list[ServiceAccountValues]
    tags: TagsValues

class StatusValues(TypedDict, total=False):
    code: int
    details: list[dict[str, Any]]
    message: str

class StructuredEntriesValues(TypedDict, total=False):
    entries: dict[str, Any]

class TagsValues(TypedDict, total=False):
    fingerprint: str
    items: list[str]

class TopologyAttributesValues(TypedDict, total=False):
    acceleratorTopologyIds: dict[str, str]
    networkTopologyIds: dict[str, str]

class UpcomingMaintenanceValues(TypedDict, total=False):
    canReschedule: bool
    latestWindowStartTime: str
    maintenanceOnShutdown: bool
    maintenanceReasons: list[str]
    maintenanceStatus: str
    type: str
    windowEndTime: str
    windowStartTime: str

class UpdatePolicyValues(TypedDict, total=False):
    keepNames: bool
    maxSurge: int | str
    maxUnavailable: int | str
    minimalAction: str
    mostDisruptiveAction: str
    onFailure: str
    pauseAfter: int | str
    ready: ReadinessValues

class VersionProgressValues(TypedDict, total=False):
    inlineSbomInfo: SbomInfoValues

class WarningDataValues(TypedDict, total=False):
    key: str
    value: str

class WorkloadIdentityConfigValues(TypedDict, total=False):
    identity: str
    identityCertificateEnabled: bool
    identityType: str
