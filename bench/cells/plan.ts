import { createRandom } from '../../test/harness/random.ts'

/** Which organisation is in which cell, and how large each cell must be: docs/operate/cells.md. A cell is one installation of Portico. */

export type Region = 'eu' | 'other'
const regions: readonly Region[] = ['eu', 'other']

/** Processor time in ms, of all threads of an instance and of the connections of its database. */
interface Cost {
  instanceMs: number
  databaseMs: number
}

/** docs/understand/performance.md and docs/operate/database.md have the figures and their commands. */
export const measured = {
  /** `npm run bench:instances`. */
  call: { instanceMs: 0.61, databaseMs: 0.21 } satisfies Cost,
  /** A cited answer of a Space of 100,000 chunks, without the call of its model: all of its time counts as processor time. */
  answer: { instanceMs: 14, databaseMs: 7 } satisfies Cost,
  /** An imported chunk, next to searches: both cores were busy. */
  chunk: { instanceMs: 2.5, databaseMs: 2.5 } satisfies Cost,
  /** Until every instance answers after a primary was cut off. */
  failoverSeconds: 26,
  /** An instance queues no longer than its event loop may be late. */
  longestQueueSeconds: 0.5,
  bytesPerChunk: 13_000,
}

/** Each can be given to `npm run simulate:cells`. */
export const assumed = {
  organisations: 10_000,
  euShare: 0.6,
  organisationsPerCell: 2_000,
  /** Mean of all organisations; a few have most of them. */
  callsPerDay: 5_000,
  /** Calls that are answers of a Space. */
  answerShare: 0.05,
  /** Imported a day, and stored, by the mean organisation. */
  chunksPerDay: 500,
  chunks: 20_000,
  fileGigabytes: 1,
  /** The busiest hour next to the mean hour. */
  peakFactor: 2.5,
  /** From the request to the end of the answer. */
  callSeconds: 6,
  /** Until an instance that was lost is replaced on another machine. */
  replaceSeconds: 120,
  /** Until a lost cell is restored from its backup. */
  restoreSeconds: 3_600,
  /** Of a core at the peak while one instance is away, and of the database. */
  targetUtilisation: 0.6,
  vcpusPerInstance: 2,
  /** Of two proxies and three nodes of etcd together. */
  vcpusOfOthers: 4,
  ledgerDays: 90,
  ledgerBytesPerCall: 1_000,
  pricePerVcpuHour: 0.04,
  /** Of a month, for disks of the database and for the object store. */
  pricePerDiskGigabyte: 0.1,
  pricePerFileGigabyte: 0.025,
}

export type Assumptions = typeof assumed

export interface Organisation {
  id: number
  region: Region
  /** Of the calls of all organisations. */
  share: number
}

export interface Cell {
  name: string
  region: Region
  organisations: Organisation[]
  /** In the busiest hour. */
  callsPerSecond: number
  instances: number
  /** Of each of its two nodes. */
  databaseVcpus: number
}

/** A Pareto distribution: at 1.2, a fifth of the organisations has about two thirds of the calls. */
const tail = 1.2
/** The largest next to the mean. */
const largestWeight = 200
/** Instances of a cell, so that one can be replaced while another one fails. */
const fewestInstances = 3
const fewestDatabaseVcpus = 2

export function makeOrganisations(
  { organisations, euShare }: Pick<Assumptions, 'organisations' | 'euShare'>,
  seed: number,
): Organisation[] {
  const random = createRandom(seed)
  const weights = Array.from({ length: organisations }, () => Math.min(largestWeight, (1 - random()) ** (-1 / tail)))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const inEu = Math.round(organisations * euShare)
  return weights.map((weight, id) => ({ id, region: id < inEu ? 'eu' : 'other', share: weight / all }))
}

/** Cells of each region, each with about the same number of calls and never more organisations than a cell may have. */
export function planCells(organisations: readonly Organisation[], given: Assumptions): Cell[] {
  return regions.flatMap((region) => {
    const own = organisations.filter((organisation) => organisation.region === region)
    const groups = Array.from({ length: Math.ceil(own.length / given.organisationsPerCell) }, () => ({
      share: 0,
      organisations: [] as Organisation[],
    }))
    for (const organisation of own.toSorted((left, right) => right.share - left.share)) {
      const open = groups.filter((group) => group.organisations.length < given.organisationsPerCell)
      const group = open.reduce((least, one) => (one.share < least.share ? one : least))
      group.organisations.push(organisation)
      group.share += organisation.share
    }
    return groups.map((group, at) => sizeCell(`${region}-${at + 1}`, region, group, given))
  })
}

function sizeCell(
  name: string,
  region: Region,
  { share, organisations }: { share: number; organisations: Organisation[] },
  given: Assumptions,
): Cell {
  const callsPerDay = share * given.callsPerDay * given.organisations
  const callsPerSecond = (callsPerDay * given.peakFactor) / 86_400
  const load = loadOf({ organisations, callsPerSecond }, given)
  const cores = (ms: number) => Math.ceil(ms / 1000 / given.targetUtilisation)
  return {
    name,
    region,
    organisations,
    callsPerSecond,
    instances: Math.max(fewestInstances, cores(load.instanceMs) + 1),
    databaseVcpus: Math.max(fewestDatabaseVcpus, cores(load.databaseMs)),
  }
}

/** Processor time that a second of the busiest hour takes. */
export function loadOf(cell: Pick<Cell, 'organisations' | 'callsPerSecond'>, given: Assumptions): Cost {
  const { call, background } = costsOf(cell, given)
  return {
    instanceMs: cell.callsPerSecond * call.instanceMs + background.instanceMs,
    databaseMs: cell.callsPerSecond * call.databaseMs + background.databaseMs,
  }
}

/** Of the mean call, and of a second of imports. */
export function costsOf(
  { organisations }: Pick<Cell, 'organisations'>,
  given: Assumptions,
): { call: Cost; background: Cost } {
  const chunksPerSecond = (organisations.length * given.chunksPerDay * given.peakFactor) / 86_400
  const mean = (kind: keyof Cost) => measured.call[kind] + given.answerShare * measured.answer[kind]
  return {
    call: { instanceMs: mean('instanceMs'), databaseMs: mean('databaseMs') },
    background: {
      instanceMs: chunksPerSecond * measured.chunk.instanceMs,
      databaseMs: chunksPerSecond * measured.chunk.databaseMs,
    },
  }
}

export interface MonthlyCost {
  vcpuHours: number
  diskGigabytes: number
  fileGigabytes: number
  price: number
}

const hoursOfMonth = 730
const nodes = 2

/** What a cell takes in a month, without traffic, backups and the providers of models. */
export function priceOf(cell: Cell, given: Assumptions): MonthlyCost {
  const vcpus = cell.instances * given.vcpusPerInstance + nodes * cell.databaseVcpus + given.vcpusOfOthers
  const callsPerDay = (cell.callsPerSecond / given.peakFactor) * 86_400
  const bytes =
    cell.organisations.length * given.chunks * measured.bytesPerChunk +
    callsPerDay * given.ledgerDays * given.ledgerBytesPerCall
  const [vcpuHours, diskGigabytes] = [vcpus * hoursOfMonth, (nodes * bytes) / 1e9]
  const fileGigabytes = cell.organisations.length * given.fileGigabytes
  const price =
    vcpuHours * given.pricePerVcpuHour +
    diskGigabytes * given.pricePerDiskGigabyte +
    fileGigabytes * given.pricePerFileGigabyte
  return { vcpuHours, diskGigabytes, fileGigabytes, price }
}
