export * from './time.ts'
export { clientNetwork, type NetworkRule, notMetadata, publicNetworks } from './network-rule.ts'
export { collectGarbage, residentBytes } from './memory.ts'
export { csvCell } from './csv-cell.ts'
export * from './errors.ts'
export {
  connectionArrived,
  createFairTurns,
  createTimeSlices,
  FairShares,
  loopTurn,
  runInTurn,
  sharedOwner,
  Turns,
} from './fairness.ts'
export { assertWritable, describeFileFault, describeLackOfRoom } from './file-faults.ts'
export * from './ids.ts'
export { assertStorableTexts, cutMiddle, isObject, lookUp, readAtMost, toStorable, toWebUrl } from './foreign-values.ts'
export { percentile } from './percentile.ts'
export { assertVersion, versionOf } from './settings-version.ts'
export * from './money.ts'
export { createPseudonyms, type Pseudonyms } from './secret-box.ts'
export { type Role, roles, runsJobs } from './roles.ts'
export * from './secret-box.ts'
export * from './collections.ts'
export * from './sse.ts'
export { type HostedToolKind, noUsage, type StatedUsage, type TokenCounts, type ToolUses } from './usage.ts'
export * from './telemetry.ts'
export { userAgent, version } from './version.ts'
