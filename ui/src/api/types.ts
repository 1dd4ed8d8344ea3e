/** What the server sends, as far as the page reads it. Everything that Argo CD may leave out is optional here, too. */

export interface Metadata {
  name: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  managedFields?: ManagedFields[]
}

/** In lists only the kind and the name are asked for. */
export interface OwnerReference {
  apiVersion?: string
  kind: string
  name: string
  uid?: string
  controller?: boolean
}

export interface ManagedFields {
  manager?: string
  operation?: string
  subresource?: string
  time?: string
  fieldsV1?: FieldsV1
}

export type FieldsV1 = { [key: string]: FieldsV1 }

export interface Health {
  status?: string
  message?: string
  lastTransitionTime?: string
}

export interface Ref {
  group?: string
  version?: string
  kind: string
  namespace?: string
  name: string
  uid?: string
}

export interface Source {
  repoURL: string
  path?: string
  chart?: string
  targetRevision?: string
  ref?: string
  name?: string
  helm?: HelmSource
  kustomize?: KustomizeSource
  directory?: Record<string, unknown>
  plugin?: Record<string, unknown>
}

export interface HelmSource {
  releaseName?: string
  valueFiles?: string[]
  parameters?: { name: string; value?: string; forceString?: boolean }[]
  fileParameters?: { name: string; path?: string }[]
  values?: string
  valuesObject?: unknown
  [other: string]: unknown
}

export interface KustomizeSource {
  namePrefix?: string
  nameSuffix?: string
  namespace?: string
  images?: string[]
  replicas?: { name: string; count: number | string }[]
  commonLabels?: Record<string, string>
  commonAnnotations?: Record<string, string>
  components?: string[]
  [other: string]: unknown
}

export interface Destination {
  server?: string
  name?: string
  namespace?: string
}

export interface SyncPolicy {
  automated?: { prune?: boolean; selfHeal?: boolean; allowEmpty?: boolean; enabled?: boolean }
  syncOptions?: string[]
  retry?: { limit?: number; backoff?: { duration?: string; factor?: number; maxDuration?: string } }
}

export interface ApplicationSpec {
  project: string
  destination: Destination
  source?: Source
  sources?: Source[]
  syncPolicy?: SyncPolicy
  ignoreDifferences?: Record<string, unknown>[]
  info?: { name: string; value: string }[]
  revisionHistoryLimit?: number
}

export interface Initiator {
  username?: string
  automated?: boolean
}

export interface SyncOperation {
  revision?: string
  revisions?: string[]
  prune?: boolean
  dryRun?: boolean
  resources?: Ref[]
  syncOptions?: string[]
}

export interface Operation {
  sync?: SyncOperation
  initiatedBy?: Initiator
  retry?: { limit?: number }
}

export interface ResourceResult extends Ref {
  status?: string
  message?: string
  hookType?: string
  hookPhase?: string
  syncPhase?: string
  images?: string[]
}

export interface OperationState {
  operation?: Operation
  phase: string
  message?: string
  startedAt?: string
  finishedAt?: string
  retryCount?: number
  syncResult?: { revision?: string; revisions?: string[]; resources?: ResourceResult[]; source?: Source; sources?: Source[] }
}

export interface ResourceStatus extends Ref {
  status?: string
  health?: Health
  hook?: boolean
  requiresPruning?: boolean
  syncWave?: number
}

export interface HistoryEntry {
  id: number
  revision?: string
  revisions?: string[]
  deployedAt?: string
  deployStartedAt?: string
  source?: Source
  sources?: Source[]
  initiatedBy?: Initiator
}

export interface Condition {
  type: string
  message: string
  lastTransitionTime?: string
}

export interface ApplicationStatus {
  resources?: ResourceStatus[]
  sync?: { status?: string; revision?: string; revisions?: string[] }
  health?: Health
  history?: HistoryEntry[]
  conditions?: Condition[]
  reconciledAt?: string
  operationState?: OperationState
  summary?: { images?: string[]; externalURLs?: string[] }
  sourceType?: string
}

export interface Application {
  metadata: Metadata
  spec: ApplicationSpec
  status?: ApplicationStatus
  operation?: Operation
}

export interface InfoItem {
  name: string
  value: string
}

export interface Networking {
  targetLabels?: Record<string, string>
  targetRefs?: Ref[]
  labels?: Record<string, string>
  ingress?: { ip?: string; hostname?: string }[]
  externalURLs?: string[]
}

export interface TreeNode extends Ref {
  parentRefs?: Ref[]
  health?: Health
  info?: InfoItem[]
  networkingInfo?: Networking
  images?: string[]
  createdAt?: string
  resourceVersion?: string
}

export interface Host {
  name: string
  resourcesInfo?: { resourceName: string; requestedByApp?: number; requestedByNeighbors?: number; capacity?: number }[]
  systemInfo?: { kubeletVersion?: string; operatingSystem?: string; architecture?: string }
  labels?: Record<string, string>
}

export interface Tree {
  nodes?: TreeNode[]
  orphanedNodes?: TreeNode[]
  hosts?: Host[]
}

export interface ManagedResource extends Ref {
  targetState?: string
  liveState?: string
  normalizedLiveState?: string
  predictedLiveState?: string
  hook?: boolean
  modified?: boolean
  /** Ours beside Argo CD's: each field that differs, and who wrote what is there. */
  fields?: FieldChange[]
}

export interface FieldChange {
  path: string
  origin?: string
  desired?: unknown
  live?: unknown
  writer?: { manager?: string; operation?: string; time?: string }
}

export interface KubeEvent {
  type?: string
  reason?: string
  message?: string
  count?: number
  firstTimestamp?: string
  lastTimestamp?: string
  eventTime?: string
  metadata?: Metadata
  source?: { component?: string }
  reportingComponent?: string
  involvedObject?: Ref
}

export interface ResourceAction {
  name: string
  displayName?: string
  disabled?: boolean
  params?: { name: string }[]
}

export interface RevisionMetadata {
  author?: string
  date?: string
  message?: string
  tags?: string[]
  signatureInfo?: string
}

export interface Link {
  title: string
  url: string
  description?: string
}

export interface ConnectionState {
  status?: string
  message?: string
  attemptedAt?: string
}

export interface Repository {
  repo: string
  type?: string
  name?: string
  project?: string
  enableOCI?: boolean
  inheritedCreds?: boolean
  connectionState?: ConnectionState
}

/** A repository with what lets one in, which is only ever sent and never answered. */
export interface RepositorySecret extends Repository {
  username?: string
  password?: string
  sshPrivateKey?: string
  insecure?: boolean
}

export interface Cluster {
  server: string
  name?: string
  serverVersion?: string
  namespaces?: string[]
  project?: string
  labels?: Record<string, string>
  connectionState?: ConnectionState
  info?: {
    connectionState?: ConnectionState
    serverVersion?: string
    applicationsCount?: number | string
    cacheInfo?: { resourcesCount?: number | string; apisCount?: number | string; lastCacheSyncTime?: string }
  }
}

export interface RoleToken {
  iat: number | string
  exp?: number | string
  id?: string
}

export interface Project {
  metadata: Metadata
  spec: {
    description?: string
    sourceRepos?: string[]
    destinations?: Destination[]
    roles?: { name: string; description?: string; groups?: string[]; policies?: string[]; jwtTokens?: RoleToken[] }[]
    syncWindows?: { kind?: string; schedule?: string; duration?: string; applications?: string[]; timeZone?: string }[]
    clusterResourceWhitelist?: { group: string; kind: string }[]
    namespaceResourceBlacklist?: { group: string; kind: string }[]
  }
}

export interface Account {
  name: string
  enabled?: boolean
  capabilities?: string[]
  tokens?: { id: string; issuedAt?: number | string; expiresAt?: number | string }[]
}

export interface UserInfo {
  loggedIn?: boolean
  username?: string
  iss?: string
  groups?: string[]
}

export interface Settings {
  url?: string
  dexConfig?: { connectors?: { name?: string; type?: string }[] }
  oidcConfig?: { name?: string; issuer?: string }
  userLoginsDisabled?: boolean
  help?: { chatUrl?: string; chatText?: string }
  uiBannerContent?: string
  uiBannerURL?: string
}

export interface SyncWindows {
  activeWindows?: { kind?: string; schedule?: string; duration?: string; manualSync?: boolean }[]
  assignedWindows?: { kind?: string; schedule?: string; duration?: string; manualSync?: boolean }[]
  canSync?: boolean
}

export interface LogEntry {
  content?: string
  timeStamp?: string
  timeStampStr?: string
  last?: boolean
  podName?: string
}

export interface Items<T> {
  items?: T[] | null
  metadata?: { resourceVersion?: string; continue?: string }
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  application: Application
}

export interface SetCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

/** Where an Application stands in the steps of its set. */
export interface SetApplicationStatus {
  application: string
  status: string
  /** Counted from 1; -1 where no step selects it. */
  step?: string
  message?: string
  lastTransitionTime?: string
  targetRevisions?: string[]
}

export interface SetStep {
  matchExpressions?: { key?: string; operator?: string; values?: string[] }[]
  maxUpdate?: number | string
}

export interface ApplicationSetSpec {
  generators?: Record<string, unknown>[]
  template?: { metadata?: Partial<Metadata>; spec?: Partial<ApplicationSpec> }
  syncPolicy?: { applicationsSync?: string; preserveResourcesOnDeletion?: boolean }
  strategy?: { type?: string; deletionOrder?: string; rollingSync?: { steps?: SetStep[] } }
  preservedFields?: { annotations?: string[]; labels?: string[] }
  ignoreApplicationDifferences?: unknown[]
  [other: string]: unknown
}

export interface ApplicationSetStatus {
  conditions?: SetCondition[]
  applicationStatus?: SetApplicationStatus[]
  resources?: ResourceStatus[]
  resourcesCount?: number | string
  health?: Health
}

export interface ApplicationSet {
  metadata: Metadata
  spec: ApplicationSetSpec
  status?: ApplicationSetStatus
}

export interface SetWatchEvent {
  type: WatchEvent['type']
  applicationSet: ApplicationSet
}
