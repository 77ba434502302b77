import { existsSync } from 'node:fs'
import path from 'node:path'
import { FailedError } from '../errors.ts'
import { isUnreachable } from '../retries.ts'
import { waitUntilProcessed } from '../upload.ts'
import { applyAction, type Applying, removeDocument } from './apply.ts'
import type { Matcher } from './patterns.ts'
import { type DescribedFile, type Plan, planPush } from './plan.ts'
import { loadSpaceDocuments } from './space-documents.ts'
import { type FolderListing, type SkippedFile, walkFolder } from './walk-folder.ts'

export interface PushOptions {
  folder: string
  isWanted: Matcher
  takeOver: boolean
  delete: boolean
  /** Allows to delete every document of the folder. */
  confirmed: boolean
  dryRun: boolean
  /** Waits until the documents are processed. */
  wait: boolean
  parallel: number
  signal: AbortSignal
}

export type ChangeKind = 'new' | 'changed' | 'moved' | 'metadata' | 'deleted'

export interface PushEvents {
  phase(name: string, total: number): void
  /** `change` is null for work that changes nothing, such as reading a file. */
  done(path: string, change: ChangeKind | null): void
}

export interface PushReport {
  counts: Record<ChangeKind | 'unchanged', number>
  /** Made, or with `dryRun` to be made. */
  changes: { path: string; change: ChangeKind }[]
  /** Documents whose files are gone and that were not deleted. */
  kept: string[]
  /** Why nothing was deleted although it was requested. */
  keptBecause: string | null
  skipped: SkippedFile[]
  failed: SkippedFile[]
}

/** Makes the documents of a Space those of a folder. Throws FailedError if the Space cannot be read or the service is gone. */
export async function pushFolder(applying: Applying, options: PushOptions, events: PushEvents): Promise<PushReport> {
  const listing = walkFolder(options.folder, options.isWanted)
  const report: PushReport = {
    counts: { new: 0, changed: 0, moved: 0, metadata: 0, deleted: 0, unchanged: 0 },
    changes: [],
    kept: [],
    keptBecause: null,
    skipped: listing.skipped,
    failed: [...listing.unreadable],
  }
  const documents = await loadSpaceDocuments(applying.client, applying.spaceId, applying.retries)
  const files = await describeAll(applying, options, events, listing, report)
  const failedPaths = new Set(report.failed.map((failed) => failed.path))
  const plan = planPush(files, {
    documents,
    into: applying.settings.into,
    takeOver: options.takeOver,
    isGone: (file) => options.isWanted(file) && !failedPaths.has(file) && !existsSync(path.join(options.folder, file)),
  })
  report.counts.unchanged = plan.unchanged
  addFindings(report, plan)
  const removed = choosePlannedRemovals(plan, options, report, listing)
  if (options.dryRun) {
    for (const { kind, file } of plan.actions) recordChange(report, file.path, kind)
    for (const { path: gone } of removed) recordChange(report, gone, 'deleted')
    return report
  }
  const processed = await applyAll(applying, options, events, plan, report)
  await removeAll(applying, options, events, { removed, processed, report })
  return report
}

async function describeAll(
  { describe }: Applying,
  options: PushOptions,
  events: PushEvents,
  listing: FolderListing,
  report: PushReport,
): Promise<DescribedFile[]> {
  const described: DescribedFile[] = []
  events.phase('Comparing', listing.files.length)
  await runAll(listing.files, options, async (file) => {
    try {
      const state = await describe(file)
      if (state.sizeBytes === 0) report.skipped.push({ path: file.path, reason: 'empty' })
      else described.push({ file, state })
    } catch (error) {
      report.failed.push({ path: file.path, reason: messageOf(error) })
    }
    events.done(file.path, null)
  })
  return described
}

function addFindings(report: PushReport, plan: Plan): void {
  const conflict =
    'A document of this folder and name exists that push did not upload. --take-over replaces its content and metadata.'
  for (const file of plan.conflicts) report.failed.push({ path: file, reason: conflict })
  const failed = 'Processing failed earlier; the file is unchanged. `portico document list` shows the cause.'
  for (const file of plan.failedBefore) report.skipped.push({ path: file, reason: failed })
}

/** The documents to delete, with the path of their file. Those that stay are in the report. */
function choosePlannedRemovals(plan: Plan, options: PushOptions, report: PushReport, listing: FolderListing) {
  const removed = plan.removed
    .map(({ id, sourceFile }) => ({ id, path: sourceFile! }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
  if (removed.length === 0) return []
  if (!options.delete) report.kept = removed.map((document) => document.path)
  else if (listing.unreadable.length > 0) keep(report, removed, 'a part of the folder could not be read')
  else if (listing.files.length === 0 && !options.confirmed) {
    keep(report, removed, 'the folder has no file to push; --yes deletes all of its documents')
    report.failed.push({ path: '.', reason: report.keptBecause! })
  } else return removed
  return []
}

function keep(report: PushReport, removed: readonly { path: string }[], because: string): void {
  report.kept = removed.map((document) => document.path)
  report.keptBecause = because
}

/** The ids of the documents that are processed now, with their paths. */
async function applyAll(
  applying: Applying,
  options: PushOptions,
  events: PushEvents,
  { actions }: Plan,
  report: PushReport,
): Promise<Map<string, string>> {
  const processed = new Map<string, string>()
  events.phase('Pushing', actions.length)
  await runAll(actions, options, async (action) => {
    const { path: file } = action.file
    try {
      const id = await applyAction(applying, action)
      if (id !== undefined) processed.set(id, file)
      recordChange(report, file, action.kind)
      events.done(file, action.kind)
    } catch (error) {
      if (options.signal.aborted || isFatal(error)) throw error
      report.failed.push({ path: file, reason: messageOf(error) })
      events.done(file, null)
    }
  })
  return processed
}

interface Removal {
  removed: readonly { id: string; path: string }[]
  processed: ReadonlyMap<string, string>
  report: PushReport
}

/**
 * Deletes last, and only if the rest succeeded and is processed: a file that was moved and edited is a new document, and its content must not
 * be missing meanwhile.
 */
async function removeAll(
  applying: Applying,
  options: PushOptions,
  events: PushEvents,
  { removed, processed, report }: Removal,
): Promise<void> {
  if (options.wait || removed.length > 0) await waitForAll(applying, options, events, processed, report)
  if (removed.length > 0 && report.failed.length > 0) return keep(report, removed, 'some files failed')
  if (removed.length > 0) events.phase('Deleting', removed.length)
  await runAll(removed, options, async ({ id, path: file }) => {
    try {
      await removeDocument(applying, id)
      recordChange(report, file, 'deleted')
      events.done(file, 'deleted')
    } catch (error) {
      if (options.signal.aborted || isFatal(error)) throw error
      report.failed.push({ path: file, reason: messageOf(error) })
    }
  })
}

async function waitForAll(
  { client, retries }: Applying,
  options: PushOptions,
  events: PushEvents,
  processed: ReadonlyMap<string, string>,
  report: PushReport,
): Promise<void> {
  if (processed.size > 0) events.phase('Processing', processed.size)
  await runAll([...processed], options, async ([id, file]) => {
    const { error, warnings = [] } = await retries.run(() => waitUntilProcessed(client, id, options.signal))
    const failed = error ?? warnings.find(({ code }) => code === 'replacement_failed')
    if (failed) report.failed.push({ path: file, reason: `${failed.code}: ${failed.message}` })
    events.done(file, null)
  })
}

function recordChange(report: PushReport, file: string, change: ChangeKind): void {
  report.counts[change]++
  report.changes.push({ path: file, change })
}

/** Errors that every further request would have as well. */
function isFatal(error: unknown): boolean {
  if (!(error instanceof FailedError)) return false
  const { status, code } = error.details
  return isUnreachable(error) || status === 401 || status === 403 || code === 'space_not_found'
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs the work of all items, some at the same time. The first error ends it. */
async function runAll<Item>(
  items: readonly Item[],
  { parallel, signal }: Pick<PushOptions, 'parallel' | 'signal'>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0
  let hasFailed = false
  async function run(): Promise<void> {
    while (next < items.length && !hasFailed) {
      if (signal.aborted) throw new FailedError('Interrupted. Push again to continue.')
      try {
        await work(items[next++]!)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, run))
}
