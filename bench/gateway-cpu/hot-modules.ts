import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

const shown = { modules: 30, functions: 30 }

/** Prints the own time of the busiest modules and functions of a V8 profile, in microseconds per call and as a share of the busy time. */
export function printHotModules(file: string, calls: number): void {
  if (!existsSync(file)) throw new Error(`there is no profile ${file}`)
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const modules = new Map<string, number>()
  const functions = new Map<string, number>()
  let busyUs = 0
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!
    if (functionName === '(idle)' || url === 'node:inspector') continue
    const us = timeDeltas[index] ?? 0
    busyUs += us
    const module = url === '' ? functionName : moduleOf(url)
    modules.set(module, (modules.get(module) ?? 0) + us)
    const name = url === '' ? functionName : `${functionName || '(anonymous)'} ${moduleOf(url)}:${lineNumber + 1}`
    functions.set(name, (functions.get(name) ?? 0) + us)
  }
  const print = (times: Map<string, number>, limit: number) => {
    for (const [name, us] of [...times].toSorted((a, b) => b[1] - a[1]).slice(0, limit)) {
      console.log(
        `  ${(us / calls).toFixed(1).padStart(7)} µs ${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name}`,
      )
    }
  }
  print(modules, shown.modules)
  console.log('  functions:')
  print(functions, shown.functions)
}

function moduleOf(url: string): string {
  const file = url.replace(/^file:\/\//, '')
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?:.*\/)?([^/]+)$/.exec(file)
  if (packaged) return `${packaged[1]} ${packaged[2]}`
  return file.startsWith('/') ? path.relative(path.join(import.meta.dirname, '../..'), file) : file
}
