import fs from 'node:fs'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makeTestFolder } from '../../../../test/harness/database.ts'
import { createRandom } from '../../../../test/harness/random.ts'
import {
  encodeEndMark,
  endMarkName,
  type Frame,
  frameHeaderBytes,
  type JournalFiles,
  journalFiles,
} from './journal-format.ts'
import { JournalLog } from './journal-log.ts'
import { openSegmentFolder, readSegments } from './segments.ts'
import { testSeed } from '../../../../test/harness/seed.ts'

/**
 * What a start finds in the journal of a killed process whose files were damaged since. The table in docs/understand/journal.md is made here: a row is a
 * part of the files, a column a fault, and a cell what came of many variants of it.
 */

const page = path.join(import.meta.dirname, '../../../../docs/understand/journal.md')
/** Of the published table. */
const publishedSeed = 27
const variants = 40
const journalId = '00000000-0000-4000-8000-000000000027'
const otherJournalId = '00000000-0000-4000-8000-000000000028'
const files: JournalFiles = {
  ...journalFiles,
  segmentFlags: fs.constants.O_RDWR,
  append: journalFiles.write,
  sync: () => Promise.resolve(),
  syncFolder: () => Promise.resolve(),
}
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

type Random = () => number
/** The files of a journal by name. */
type Snapshot = Map<string, Buffer>

interface Range {
  file: string
  from: number
  to: number
}

interface Journal {
  lines: string[]
  /** After each frame; the last one is that of the killed process. */
  history: Snapshot[]
  /** Oldest first. */
  frames: Range[]
  segments: string[]
}

/** A fault of one variant: the damaged files, or undefined where it changes nothing. */
type Fault = (journal: Journal, range: Range, random: Random) => Snapshot | undefined

const below = (random: Random, end: number) => Math.floor(random() * end)
const pick = <Item>(random: Random, items: readonly Item[]): Item => items[below(random, items.length)]!

/** Three segments; the last one has six frames. */
async function writeJournal(random: Random): Promise<Journal> {
  const parent = makeTestFolder()
  folders.push(parent)
  const folder = path.join(parent, 'journal')
  const journal: Journal = { lines: [], history: [], frames: [], segments: [] }
  const applied = await openSegmentFolder(files, folder)
  const log = await JournalLog.open({
    folder,
    files,
    journalId,
    lastSequence: 0,
    applied,
    segmentBytes: 6_000,
  })
  const isComplete = () => journal.frames.filter(({ file }) => file === journal.segments[2]).length === 6
  for (let frame = 0; !isComplete(); frame += 1) {
    const count = 1 + below(random, 3)
    const written = Array.from({ length: count }, (_, place) =>
      JSON.stringify([frame, place, 'x'.repeat(below(random, 300))]),
    )
    await log.makeRoom(written)
    await log.append(written)
    journal.lines.push(...written)
    const snapshot = readFolder(folder)
    journal.history.push(snapshot)
    journal.segments = [...snapshot.keys()].filter((name) => name.endsWith('.segment'))
    const file = journal.segments.at(-1)!
    const before = journal.frames.at(-1)
    const from = before?.file === file ? before.to : 0
    journal.frames.push({ file, from, to: from + frameHeaderBytes + Buffer.byteLength(written.join('\n')) })
  }
  await log.close()
  return journal
}

function readFolder(folder: string): Snapshot {
  const names = fs.readdirSync(folder).sort()
  return new Map(names.map((name) => [name, fs.readFileSync(path.join(folder, name))]))
}

/** `lost`: the start would not notice that acknowledged records are missing or others are there. */
async function start({ lines }: Journal, snapshot: Snapshot): Promise<'complete' | 'refused' | 'lost'> {
  const folder = makeTestFolder()
  try {
    for (const [name, bytes] of snapshot) fs.writeFileSync(path.join(folder, name), bytes)
    const segments = await openSegmentFolder(files, folder)
    // A folder without segments and with a mark is refused before it is read: journal-start.slow.test.ts.
    if (segments.length === 0) return snapshot.has(endMarkName) ? 'refused' : 'lost'
    const found: string[] = []
    const use = (frame: Frame) => void found.push(...frame.lines())
    const { damage, firstSequence } = await readSegments(files, segments, journalId, use)
    // The database of this process has applied nothing.
    if (damage || firstSequence > 1) return 'refused'
    return found.join('\n') === lines.join('\n') ? 'complete' : 'lost'
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const now = (journal: Journal): Snapshot => new Map(journal.history.at(-1)!)

/** The files with one of them changed. */
function withFile(journal: Journal, file: string, change: (bytes: Buffer) => Buffer): Snapshot | undefined {
  const snapshot = now(journal)
  const before = snapshot.get(file)!
  const after = change(Buffer.from(before))
  return after.equals(before) ? undefined : snapshot.set(file, after)
}

/** Some bytes of the range, or some whole frames of it. */
function partOf({ frames }: Journal, { file, from, to }: Range, random: Random): [from: number, to: number] {
  const whole = frames.filter((frame) => frame.file === file && from <= frame.from && frame.to <= to)
  if (whole.length > 0 && random() < 0.5) {
    const first = below(random, whole.length)
    return [whole[first]!.from, pick(random, whole.slice(first)).to]
  }
  const start = from + below(random, to - from)
  return [start, start + 1 + below(random, to - start)]
}

const faultsOfBytes: Record<string, Fault> = {
  'one bit flipped': (journal, range, random) =>
    withFile(journal, range.file, (bytes) => {
      bytes[range.from + below(random, range.to - range.from)]! ^= 1 << below(random, 8)
      return bytes
    }),
  zeroed: (journal, range, random) =>
    withFile(journal, range.file, (bytes) => bytes.fill(0, ...partOf(journal, range, random))),
  'cut off': (journal, range, random) =>
    withFile(journal, range.file, (bytes) => bytes.subarray(0, partOf(journal, range, random)[0])),
  removed: (journal, range, random) =>
    withFile(journal, range.file, (bytes) => {
      const [from, to] = partOf(journal, range, random)
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
    }),
  repeated: (journal, range, random) =>
    withFile(journal, range.file, (bytes) => {
      const [from, to] = partOf(journal, range, random)
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
    }),
  swapped: (journal, range, random) =>
    withFile(journal, range.file, (bytes) => {
      const [first, second] = [partOf(journal, range, random), partOf(journal, range, random)].toSorted(
        ([one], [other]) => one - other,
      )
      if (first![1] > second![0]) return bytes
      const pieces = [0, first![0], first![1], second![0], second![1], bytes.length]
      const [head, one, middle, other, tail] = pieces.slice(1).map((end, place) => bytes.subarray(pieces[place], end))
      return Buffer.concat([head!, other!, middle!, one!, tail!])
    }),
  'as it was before': (journal, range, random) =>
    withFile(journal, range.file, (bytes) => {
      const earlier = pick(random, journal.history).get(range.file)
      return earlier ? Buffer.concat([bytes.subarray(0, range.from), earlier.subarray(range.from)]) : bytes
    }),
}

const faultsOfSegments: Record<string, Fault> = {
  zeroed: (journal, { file }) => withFile(journal, file, (bytes) => bytes.fill(0)),
  'cut off': (journal, { file }) => withFile(journal, file, () => Buffer.alloc(0)),
  removed(journal, { file }) {
    const snapshot = now(journal)
    snapshot.delete(file)
    return snapshot
  },
  repeated(journal, { file }, random) {
    const { lines } = journal
    const snapshot = now(journal)
    const sequence = pick(random, [lines.length + 1, 1 + below(random, 2 * lines.length)])
    const name = `${String(sequence).padStart(16, '0')}.segment`
    return snapshot.has(name) ? undefined : snapshot.set(name, snapshot.get(file)!)
  },
  swapped(journal, { file }, random) {
    const other = pick(random, journal.segments)
    const snapshot = now(journal)
    const [one, two] = [snapshot.get(file)!, snapshot.get(other)!]
    return other === file ? undefined : snapshot.set(file, two).set(other, one)
  },
  'as it was before': (journal, { file }, random) =>
    withFile(journal, file, (bytes) => pick(random, journal.history).get(file) ?? bytes),
}

const faultsOfMark: Record<string, Fault> = {
  ...faultsOfBytes,
  removed: faultsOfSegments['removed']!,
  swapped: (journal, { file }) =>
    withFile(journal, file, () => encodeEndMark({ journalId: otherJournalId, lastSequence: journal.lines.length })),
  'as it was before': faultsOfSegments['as it was before']!,
}

const columns = Object.keys(faultsOfBytes)

/** The rows of the table: what is damaged, its ranges, and its faults. */
function rowsOf({ frames, segments, history }: Journal): [string, Range[], Record<string, Fault>][] {
  const sound = history.at(-1)!
  const last = segments.at(-1)!
  const space = segments.map((file) => {
    const from = frames.findLast((frame) => frame.file === file)!.to
    return { file, from, to: sound.get(file)!.length }
  })
  const wholeOf = (file: string) => ({ file, from: 0, to: sound.get(file)!.length })
  const ofLast = frames.filter(({ file }) => file === last)
  const end = ofLast.at(-1)!
  return [
    ['the last write', [end], faultsOfBytes],
    ['the last few writes', ofLast.slice(0, -1).map(({ from }) => ({ ...end, from })), faultsOfBytes],
    ['writes before the last one', [{ ...end, from: 0, to: end.from }], faultsOfBytes],
    [
      'writes in an older segment',
      space.slice(0, -1).map(({ file, from }) => ({ file, from: 0, to: from })),
      faultsOfBytes,
    ],
    ['the space behind the writes', space, faultsOfBytes],
    ['the last segment', [wholeOf(last)], faultsOfSegments],
    ['an older segment', segments.slice(0, -1).map(wholeOf), faultsOfSegments],
    [`the mark, \`${endMarkName}\``, [wholeOf(endMarkName)], faultsOfMark],
  ]
}

/** Each cell of the table, by row. */
async function tryFaults(seed: number): Promise<string[][]> {
  const random = createRandom(seed)
  const journal = await writeJournal(random)
  const table: string[][] = []
  for (const [what, ranges, faults] of rowsOf(journal)) {
    const cells = []
    for (const column of columns) {
      const outcomes = new Set<string>()
      for (let variant = 0; variant < variants; variant += 1) {
        const damaged = faults[column]?.(journal, pick(random, ranges), random)
        if (damaged) outcomes.add(await start(journal, damaged))
      }
      const cell = [...outcomes].sort().toReversed().join(' or ') || '–'
      cells.push(cell === 'refused or complete' ? 'either' : cell)
    }
    table.push([what, ...cells])
  }
  return table
}

function render(table: readonly string[][]): string {
  const rows = table.map((cells) => `| ${cells.join(' | ')} |`)
  return [`| Damaged | ${columns.join(' | ')} |`, `|---|${columns.map(() => '---|').join('')}`, ...rows].join('\n')
}

test('no fault of a file loses an acknowledged record unnoticed, and the published table has the outcome of each', async () => {
  const published = /^\| Damaged \|(?:.*\n)+?(?=\n)/m.exec(fs.readFileSync(page, 'utf8'))?.[0].trimEnd()
  expect(published).toBe(render(await tryFaults(publishedSeed)))
}, 120_000)

const seed = testSeed

test(`no fault of a file loses an acknowledged record unnoticed in a random journal (seed ${seed})`, async () => {
  expect((await tryFaults(seed)).flat().filter((cell) => cell.includes('lost'))).toEqual([])
}, 120_000)
