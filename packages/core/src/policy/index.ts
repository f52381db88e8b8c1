/// <reference types="node" preserve="true" />
export { ROOT_PATH, isWithinPath, joinNames, parseAbsolutePath, parentOf } from './glob/absolute-path.js'
export type { AbsolutePath } from './glob/absolute-path.js'
export { isReadable, isWritable } from './resolve/access.js'
export type { Boundary } from './boundary.js'
export { compileNetwork, matchPaths } from './compare/compile-network.js'
export type { CompiledNetwork, NetworkAnswer } from './compare/compile-network.js'
export { canonicalPolicy, hostText, policyHash } from './resolve/canonical-policy.js'
export { credentialsBoundTo, credentialsWithin } from './credential.js'
export type { Credential, Injection, RequestScope } from './credential.js'
export { escapeGlob, wildcardMatches } from './glob/glob-segments.js'
export type { Segment, WildcardPart } from './glob/glob-segments.js'
export { getOrAdd } from './get-or-add.js'
export { WEB_PORTS, coversEndpoint, coversHost, isWebPort } from './network/covers-host.js'
export { coversDestination } from './network/covers-destination.js'
export { blockOf, parseDestination, renderDestination } from './network/host-grant.js'
export type { Destination, Endpoint, HostAction, HostGrant, PortGrant } from './network/host-grant.js'
export { parseHostName } from './network/host-name.js'
export type { HostName, ParsedHostName } from './network/host-name.js'
export { handOverTo, reachableBesides, readableBesides } from './compare/data-reach.js'
export type { FileFound } from './compare/data-reach.js'
export { beyond, isWithin } from './compare/is-within.js'
export type { Within } from './compare/is-within.js'
export type { WithinContext } from './compare/checks.js'
export { BITS, cidrContains, parseIpAddress, renderCidr, renderIpAddress } from './network/ip-address.js'
export type { Cidr, IpAddress } from './network/ip-address.js'
export { denialOfAddress, isGrantedAddress } from './network/dialled-address.js'
export type { EntriesAbout } from './network/dialled-address.js'
export { isLoopback, isNobodysOwn, isThisHost, parseResolved, specialPurpose } from './network/special-addresses.js'
export { loadPolicyText } from './parse/load-policy-text.js'
export { matches } from './glob/matches.js'
export {
  BACKENDS,
  DEFAULT_LIMITS,
  DEFAULT_OUTPUT_BYTES,
  EGRESS_CLASSES,
  FORMS,
  LINUX_BACKENDS,
  MECHANISMS,
  RISKS,
  TOOL_KINDS,
  WALLS,
  isSandboxedKind,
} from './model.js'
export type {
  Assessed,
  BackendName,
  EgressClass,
  EnvironmentEntry,
  Form,
  Limits,
  LinuxBackend,
  Mechanism,
  PresetName,
  ProgramGrant,
  Risk,
  SandboxedKind,
  Section,
  ToolKind,
  ToolPolicy,
  WallName,
} from './model.js'
export { didYouMean, nearestKey } from './nearest-key.js'
export { parseRequestHost } from './network/network-request.js'
export type { NetworkRequest, NetworkUse, RequestHost } from './network/network-request.js'
export { LIMIT_FORMS, LIMIT_NAMES } from './parse/parse-limits.js'
export { parsePolicy, parsePolicyNode } from './parse/parse-policy.js'
export type { CredentialInput, HostInput, LimitsInput, PolicyInput } from './parse/policy-input.js'
export { parsePathGlob } from './glob/path-glob.js'
export type { Anchor, GlobAlternative, PathGlob } from './glob/path-glob.js'
export { bindGlob, carveOut, literalPattern } from './glob/path-pattern.js'
export type { PathPattern, Places } from './glob/path-pattern.js'
export { canMatchBeneath, isMatch, startWalk, step } from './glob/pattern-walk.js'
export type { WalkState } from './glob/pattern-walk.js'
export { credentialIdsFor, parseRequest, problemOfExample } from './files/policy-examples.js'
export type { PolicyExample } from './files/policy-examples.js'
export { loadPolicyFile, policyOfFile, readPolicyFile } from './files/policy-file.js'
export type { PolicyFile, PolicySection } from './files/policy-file.js'
export {
  countOf,
  describeValue,
  flagOf,
  invalid,
  itemsOf,
  keyOf,
  mappingOf,
  namedNodesOf,
  oneOf,
  placeOf,
  required,
  rootNode,
  someItemsOf,
  sourceOf,
  textOf,
} from './parse/policy-node.js'
export type { KeyPath, PolicyNode } from './parse/policy-node.js'
export type { Preset } from './resolve/presets.js'
export { PROTECTED_NAMES } from './protected/protected.js'
export type { ProtectedName } from './protected/protected.js'
export { isNamedBy, isProtectedFile, protectionOf } from './protected/protection.js'
export type { Protection } from './protected/protection.js'
export { parseDuration, parseSize, renderSize, renderTime } from './parse/quantities.js'
export { readDocument } from './parse/read-document.js'
export { refuseConflicts, refuseNetwork } from './files/refuse-conflicts.js'
export type { PlacedPolicy } from './files/refuse-conflicts.js'
export { renderPolicy } from './files/render-policy.js'
export type { PolicyLine } from './files/render-policy.js'
export { resolvePolicy } from './resolve/resolve-policy.js'
export type { ResolveContext } from './resolve/resolve-policy.js'
export { resolveStance, undeclaredSections } from './stance.js'
export type { Stance, StanceSection } from './stance.js'
export { readUrlPath } from './network/url-path.js'
export type { PathReadings } from './network/url-path.js'
export { strayName } from './resolve/stray-name.js'
export { widenPolicy } from './resolve/widen-policy.js'
export type { MoreGrants } from './resolve/widen-policy.js'
export { describeWitness } from './compare/witness.js'
export type { RequestWitness, Witness } from './compare/witness.js'
