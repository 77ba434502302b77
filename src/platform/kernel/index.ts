export * from './abort.ts'
export * from './clock.ts'
export { clientNetwork } from './client-network.ts'
export { collectGarbage } from './collect-garbage.ts'
export * from './credential.ts'
export { csvCell } from './csv-cell.ts'
export * from './errors.ts'
export { FairShares } from './fair-shares.ts'
export { createFairTurns } from './fair-turns.ts'
export { assertWritable, describeFileFault, describeLackOfRoom } from './file-faults.ts'
export * from './ids.ts'
export { isObject } from './is-object.ts'
export { connectionArrived, loopTurn } from './loop-turns.ts'
export { decodeTexts, isBlankText, joinTexts, JsonText, type LiteralCounts, textOf, toMovable } from './json-text.ts'
export * from './log.ts'
export { lookUp } from './look-up.ts'
export { LongTexts } from './long-texts.ts'
export { type NetworkRule, notMetadata, publicNetworks } from './network-rule.ts'
export { currentOrganisation, runForAll, runForOrganisation } from './organisation-context.ts'
export { percentile } from './percentile.ts'
export { residentBytes } from './memory.ts'
export * from './money.ts'
export { createPseudonyms, type Pseudonyms } from './pseudonyms.ts'
export { type RepeatedWork, repeatWork } from './repeated-work.ts'
export { type Role, roles, runsJobs } from './roles.ts'
export * from './secret-box.ts'
export * from './snapshot-reloader.ts'
export * from './sse.ts'
export * from './time-slices.ts'
export type { StatedUsage, TokenCounts } from './usage.ts'
export * from './telemetry.ts'
export { userAgent, version } from './version.ts'
export {
  assertReadsCsv,
  type BodyFormat,
  type BodyReader,
  type LongBody,
  readBody,
  readJson,
  readLongBody,
  usualBytes,
} from './body-reader.ts'
export type { BodyShape } from './json-scan.ts'
export { assertStorableTexts, toStorable } from './storable-text.ts'
export { toWebUrl } from './web-url.ts'
export { Turns } from './turns.ts'
