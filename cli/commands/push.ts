import { statSync } from 'node:fs'
import type { Context } from '../context.ts'
import { type CliCommand, collect, parseWhole } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import { stripControl } from '../output.ts'
import type { Applying } from '../push/apply.ts'
import { createDescriber } from '../push/describe-file.ts'
import { watchFolder } from '../push/folder-changes.ts'
import { createGlob, type Matcher } from '../push/patterns.ts'
import { pushFolder, type PushEvents, type PushOptions, type PushReport } from '../push/push-folder.ts'
import { createRetries } from '../retries.ts'
import { parseMetadata, spaceOf } from './documents.ts'

interface Options {
  space?: string
  into: string
  include?: string[]
  exclude?: string[]
  metadata?: string
  delete?: boolean
  takeOver?: boolean
  yes?: boolean
  dryRun?: boolean
  watch?: boolean
  wait?: boolean
  parallel: number
}

const maximumParallel = 16

/** `portico push FOLDER` */
export function addPushCommand(program: CliCommand): void {
  program
    .command('push <folder>')
    .description('Make the documents of a Space those of a folder: new, changed, moved and removed files.')
    .option('--space <space>', 'the Space; default: PORTICO_SPACE_ID')
    .option('--into <folder>', 'folder of the Space, if several folders share it', '')
    .option('--include <glob>', 'only files that match one of these (repeatable)', collect)
    .option('--exclude <glob>', 'not the files that match one of these (repeatable)', collect)
    .option(
      '--metadata <json>',
      'metadata of every file, a JSON object or @FILE; front matter and sidecars override it',
    )
    .option('--delete', 'delete documents that push uploaded and whose files are gone')
    .option('--take-over', 'take over documents of the same folder and name that push did not upload')
    .option('--yes', 'with --delete: also if the folder has no file left')
    .option('--dry-run', 'print what would be done')
    .option('--watch', 'continue after each change of the folder')
    .option('--wait', 'wait until all are processed; exit code 1 if one fails')
    .option('--parallel <count>', `files at the same time, at most ${maximumParallel}`, parseWhole, 4)
    .examples(
      'portico push ./docs --space SPACE_ID --dry-run',
      'portico push ./docs --delete --wait',
      `portico push ./docs --into handbook --exclude 'drafts/**' --watch`,
    )
    .run(async (context, options: Options, folder: string) => {
      assertOptions(folder, options)
      const { output, process } = context
      const settings = {
        into: toFolder(options.into),
        common: options.metadata === undefined ? {} : parseMetadata(options.metadata),
      }
      const applying: Applying = {
        client: context.organisation(),
        retries: createRetries(process.signal),
        spaceId: spaceOf(context, options),
        settings,
        describe: createDescriber(settings),
      }
      const push = () => pushFolder(applying, toPushOptions(folder, options, process.signal), showEvents(context))
      if (options.watch) return pushOnChanges(context, folder, push)
      const report = await push().finally(() => output.progress(''))
      output.result(report, () => printReport(context, report, options))
      const { length } = report.failed
      if (length > 0) throw new FailedError(`${length} ${length === 1 ? 'file' : 'files'} failed.`)
    })
}

function assertOptions(folder: string, { parallel, watch, dryRun, into }: Options): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${folder} is not a folder.`)
  if (parallel < 1 || parallel > maximumParallel) throw new UsageError(`--parallel must be 1 to ${maximumParallel}.`)
  if (watch && dryRun) throw new UsageError('--watch and --dry-run exclude each other.')
  if (into.split('/').some((part) => part === '..' || part === '.'))
    throw new UsageError('--into must be a plain path.')
}

/** Empty, or a path with a slash at its end. */
function toFolder(into: string): string {
  const path = into.normalize('NFC').split('/').filter(Boolean).join('/')
  return path === '' ? '' : `${path}/`
}

function toPushOptions(folder: string, options: Options, signal: AbortSignal): PushOptions {
  return {
    folder,
    isWanted: toMatcher(options),
    takeOver: options.takeOver ?? false,
    delete: options.delete ?? false,
    confirmed: options.yes ?? false,
    dryRun: options.dryRun ?? false,
    wait: options.wait ?? false,
    parallel: options.parallel,
    signal,
  }
}

function toMatcher({ include, exclude = [] }: Options): Matcher {
  const included = include?.map(createGlob)
  const excluded = exclude.map(createGlob)
  return (path) => (included?.some((glob) => glob(path)) ?? true) && !excluded.some((glob) => glob(path))
}

/** A bar on a terminal, otherwise a line for each change. */
function showEvents({ output, process }: Context): PushEvents {
  let phase = ''
  let total = 0
  let done = 0
  return {
    phase(name, of) {
      phase = name
      total = of
      done = 0
      output.progress(`${phase} ${total}`)
    },
    done(path, change) {
      done++
      if (process.isTerminal)
        output.progress(`${phase} ${drawBar(done, total)} ${done}/${total}  ${stripControl(path)}`)
      else if (change) output.note(`${change} ${stripControl(path)}`)
    },
  }
}

const barWidth = 20

function drawBar(done: number, total: number): string {
  const filled = Math.floor((done / Math.max(1, total)) * barWidth)
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`
}

/** Pushes, then again after each change until the command is interrupted. A push that fails is repeated at the next change. */
async function pushOnChanges(context: Context, folder: string, push: () => Promise<PushReport>): Promise<void> {
  const { output, process } = context
  const changes = watchFolder(folder, process.signal)
  try {
    while (!process.signal.aborted) {
      try {
        const report = await push()
        output.progress('')
        if (report.changes.length + report.failed.length > 0)
          output.result(report, () => printReport(context, report, {}))
      } catch (error) {
        output.progress('')
        if (process.signal.aborted) break
        output.note(`portico: ${error instanceof Error ? error.message : String(error)}`)
      }
      await changes.next()
    }
  } finally {
    changes.close()
  }
}

const verbs = { new: 'new', changed: 'changed', moved: 'moved', metadata: 'with new metadata', deleted: 'deleted' }
const listedPaths = 20

function printReport({ output }: Context, report: PushReport, { dryRun }: Pick<Options, 'dryRun'>): void {
  const { counts, changes, kept, keptBecause, skipped, failed } = report
  const print = output.line
  if (dryRun) for (const { change, path } of changes) print(`${change} ${stripControl(path)}`)
  list(print, skipped, `${skipped.length} skipped:`)
  if (kept.length > 0) {
    const why = keptBecause === null ? '--delete deletes them' : `not deleted, because ${keptBecause}`
    const reasons = kept.map((path) => ({ path, reason: '' }))
    list(print, reasons, `${kept.length} documents have no file in the folder (${why}):`)
  }
  list(print, failed, `${failed.length} failed:`)
  const parts = Object.entries(verbs).map(([kind, verb]) => [counts[kind as keyof typeof verbs], verb] as const)
  const made = parts.filter(([count]) => count > 0).map(([count, verb]) => `${count} ${verb}`)
  const done = [...made, `${counts.unchanged} unchanged`, `${skipped.length} skipped`, `${failed.length} failed`]
  print(`${dryRun ? 'To do' : 'Done'}: ${done.join(', ')}.`)
}

function list(print: (text: string) => void, entries: readonly { path: string; reason: string }[], title: string) {
  if (entries.length === 0) return
  print(title)
  for (const { path, reason } of entries.slice(0, listedPaths)) {
    print(`  ${stripControl(path)}${reason && `  ${stripControl(reason)}`}`)
  }
  if (entries.length > listedPaths) print(`  and ${entries.length - listedPaths} more; --json lists all`)
}
