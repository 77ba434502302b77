const sectorBytes = 512
const smallSectorBytes = 64
const endOfChain = 0xfffffffe
const tableSector = 0xfffffffd
const free = 0xffffffff

/** A container of streams (Compound File Binary) with one sector of allocation table, so with up to 63 KiB. */
export function buildOleContainer(streams: Record<string, Buffer>): Buffer {
  const table: number[] = [tableSector]
  const sectors: Buffer[] = [Buffer.alloc(sectorBytes)]
  const store = (content: Buffer): number => {
    const first = sectors.length
    const count = Math.ceil(content.length / sectorBytes)
    for (let at = 0; at < count; at += 1) {
      const sector = Buffer.alloc(sectorBytes)
      content.copy(sector, 0, at * sectorBytes)
      sectors.push(sector)
      table.push(at === count - 1 ? endOfChain : first + at + 1)
    }
    return count === 0 ? endOfChain : first
  }
  const small: Buffer[] = []
  const smallTable: number[] = []
  const storeSmall = (content: Buffer): number => {
    const first = smallTable.length
    const count = Math.ceil(content.length / smallSectorBytes)
    small.push(Buffer.concat([content, Buffer.alloc(count * smallSectorBytes - content.length)]))
    for (let at = 0; at < count; at += 1) smallTable.push(at === count - 1 ? endOfChain : first + at + 1)
    return first
  }
  const entries = Object.entries(streams).map(([name, content]) =>
    entry(name, 2, content.length < 4_096 ? storeSmall(content) : store(content), content.length),
  )
  const smallBytes = Buffer.concat(small)
  const directory = store(Buffer.concat([entry('Root Entry', 5, store(smallBytes), smallBytes.length), ...entries]))
  const smallTableSector = store(numbers(smallTable, Math.ceil(smallTable.length / 128) * 128))
  sectors[0] = numbers(table, sectorBytes / 4)
  const header = Buffer.alloc(sectorBytes)
  header.write('d0cf11e0a1b11ae1', 'hex')
  for (const [at, value] of [
    [26, 3],
    [28, 0xfffe],
    [30, 9],
    [32, 6],
  ] as const)
    header.writeUInt16LE(value, at)
  for (const [at, value] of [
    [44, 1],
    [48, directory],
    [56, 4_096],
    [60, smallTableSector],
    [64, 1],
    [68, endOfChain],
  ] as const)
    header.writeUInt32LE(value, at)
  numbers([0], 109).copy(header, 76)
  return Buffer.concat([header, ...sectors])
}

function numbers(values: number[], count: number): Buffer {
  const bytes = Buffer.alloc(count * 4)
  for (let at = 0; at < count; at += 1) bytes.writeUInt32LE(values[at] ?? free, at * 4)
  return bytes
}

function entry(name: string, type: number, first: number, size: number): Buffer {
  const bytes = Buffer.alloc(128)
  bytes.write(name, 'utf16le')
  bytes.writeUInt16LE(name.length * 2 + 2, 64)
  bytes[66] = type
  for (const at of [68, 72, 76]) bytes.writeUInt32LE(free, at)
  bytes.writeUInt32LE(first, 116)
  bytes.writeUInt32LE(size, 120)
  return bytes
}

/** The stream of a file that was dropped into a document. */
export function packagerStream(name: string, content: Buffer): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return bytes
  }
  const path = Buffer.from(`C:\\Users\\Ann\\${name}\0`, 'latin1')
  const body = Buffer.concat([
    Buffer.from([2, 0]),
    Buffer.from(`${name}\0`, 'latin1'),
    path,
    Buffer.from([0, 0, 3, 0]),
    number(path.length),
    path,
    number(content.length),
    content,
  ])
  return Buffer.concat([number(body.length), body])
}
