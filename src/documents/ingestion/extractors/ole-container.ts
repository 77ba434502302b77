/**
 * A container of streams (Compound File Binary, [MS-CFB]), in which Office stores objects of other programs. It is untrusted: chains of sectors
 * end at their first repetition, and no more is read than the file has.
 */

const mark = Buffer.from('d0cf11e0a1b11ae1', 'hex')
const headerBytes = 512
const entryBytes = 128
/** Streams below this size are parts of the root's stream, in small sectors. */
const smallStream = 4_096
/** Sectors of the allocation table that the header names; further ones are in a separate chain. */
const headerTableSectors = 109
/** Numbers from here on mark free, final and table sectors. */
const lastSector = 0xfffffffa
/** Entries of the directory that are looked at. */
const maximumEntries = 10_000

export function isOleContainer(bytes: Buffer): boolean {
  return bytes.length >= headerBytes && bytes.subarray(0, mark.length).equals(mark)
}

/** The streams by their names; the first of each name counts. */
export function readOleStreams(bytes: Buffer): Map<string, () => Buffer> {
  const streams = new Map<string, () => Buffer>()
  const sectorBytes = 2 ** bytes.readUInt16LE(30)
  const smallSectorBytes = 2 ** bytes.readUInt16LE(32)
  if (![512, 4_096].includes(sectorBytes) || smallSectorBytes !== 64) return streams
  const sector = (number: number) => bytes.subarray((number + 1) * sectorBytes, (number + 2) * sectorBytes)
  const sectors = Math.ceil(bytes.length / sectorBytes) - 1
  const table = joinTable(bytes, sector, sectors)
  const chain = (first: number) => Buffer.concat(chainOf(first, table, sectors).map(sector))
  const directory = chain(bytes.readUInt32LE(48))
  const smallTable = chain(bytes.readUInt32LE(60))
  let root: Buffer | undefined
  const smallStreamOf = (first: number) => {
    root ??= chain(directory.readUInt32LE(116))
    const count = Math.ceil(root.length / smallSectorBytes)
    return Buffer.concat(
      chainOf(first, smallTable, count).map((number) =>
        root!.subarray(number * smallSectorBytes, (number + 1) * smallSectorBytes),
      ),
    )
  }
  const entries = Math.min(maximumEntries, Math.floor(directory.length / entryBytes))
  for (let at = 0; at < entries; at += 1) {
    const entry = directory.subarray(at * entryBytes, (at + 1) * entryBytes)
    const nameBytes = entry.readUInt16LE(64)
    const isStream = entry[66] === 2
    if (!isStream || nameBytes < 2 || nameBytes > 64) continue
    const name = entry.toString('utf16le', 0, nameBytes - 2)
    const first = entry.readUInt32LE(116)
    const size = entry.readUInt32LE(120)
    if (!streams.has(name))
      streams.set(name, () => (size < smallStream ? smallStreamOf(first) : chain(first)).subarray(0, size))
  }
  return streams
}

/** The allocation table: for each sector the next one of its chain. */
function joinTable(bytes: Buffer, sector: (number: number) => Buffer, sectors: number): Buffer {
  const numbers: number[] = []
  for (let at = 0; at < headerTableSectors; at += 1) numbers.push(bytes.readUInt32LE(76 + 4 * at))
  const seen = new Set<number>()
  for (let next = bytes.readUInt32LE(68); next < Math.min(sectors, lastSector) && !seen.has(next);) {
    seen.add(next)
    const part = sector(next)
    for (let at = 0; at + 8 <= part.length; at += 4) numbers.push(part.readUInt32LE(at))
    next = part.length >= 4 ? part.readUInt32LE(part.length - 4) : lastSector
  }
  return Buffer.concat([...new Set(numbers)].filter((number) => number < sectors).map(sector))
}

/** The numbers of a chain of sectors, in order. */
function chainOf(first: number, table: Buffer, sectors: number): number[] {
  const seen = new Set<number>()
  for (let next = first; next < sectors && !seen.has(next);) {
    seen.add(next)
    next = 4 * next + 4 <= table.length ? table.readUInt32LE(4 * next) : lastSector
  }
  return [...seen]
}
