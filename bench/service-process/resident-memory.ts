import fs from 'node:fs'

/** Resident memory of a process by kind, in bytes, from /proc/PID/smaps. */
export interface ResidentMemory {
  /** The program and shared libraries; the operating system shares them between processes. */
  files: number
  /** Linear memories of WebAssembly: both embedded databases. */
  webAssembly: number
  /** Machine code that V8 made. */
  code: number
  /** What malloc keeps in its heap and arenas. */
  malloc: number
  /** All other anonymous memory: JavaScript heaps, large buffers, stacks. */
  other: number
  total: number
}

interface Mapping {
  start: number
  end: number
  permissions: string
  file: string
  residentBytes: number
}

const arenaBytes = 64 * 1024 * 1024
// V8 reserves the addresses behind a memory of WebAssembly, so that it needs no check of bounds.
const reservedBytes = 1024 ** 3

export function readResidentMemory(pid: number): ResidentMemory {
  const memory: ResidentMemory = { files: 0, webAssembly: 0, code: 0, malloc: 0, other: 0, total: 0 }
  const mappings = readMappings(pid)
  for (const [index, mapping] of mappings.entries()) {
    memory[kindOf(mapping, mappings[index + 1])] += mapping.residentBytes
    memory.total += mapping.residentBytes
  }
  return memory
}

function kindOf(mapping: Mapping, next: Mapping | undefined): Exclude<keyof ResidentMemory, 'total'> {
  if (mapping.file === '[heap]') return 'malloc'
  if (mapping.file !== '' && !mapping.file.startsWith('[')) return 'files'
  if (mapping.permissions.includes('x')) return 'code'
  if (next?.start === mapping.end && next.permissions.startsWith('---')) {
    if (next.end - next.start > reservedBytes) return 'webAssembly'
    if (mapping.start % arenaBytes === 0 && next.end - mapping.start === arenaBytes) return 'malloc'
  }
  return 'other'
}

function readMappings(pid: number): Mapping[] {
  const mappings: Mapping[] = []
  for (const line of fs.readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$/.exec(line)
    if (head) {
      const [, start, end, permissions, file] = head as unknown as [string, string, string, string, string]
      mappings.push({ start: parseInt(start, 16), end: parseInt(end, 16), permissions, file, residentBytes: 0 })
    }
    const kilobytes = /^Rss: +(\d+) kB/.exec(line)
    if (kilobytes) mappings.at(-1)!.residentBytes = Number(kilobytes[1]) * 1024
  }
  return mappings
}
