import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')

/** Builds the console and the hosted chat before the first test if one is older than their source. */
export default function buildOnce(): void {
  const built = Math.min(...['console/index.html', 'visitor/index.html', 'visitor/widget.js'].map(modifiedAt))
  const sources = readdirSync(path.join(root, 'web'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const newest = Math.max(...sources.map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs))
  if (built < newest)
    execFileSync(path.join(root, 'bin/run'), ['scripts/build-console.ts'], { cwd: root, stdio: 'inherit' })
}

function modifiedAt(file: string): number {
  return statSync(path.join(root, 'dist', file), { throwIfNoEntry: false })?.mtimeMs ?? 0
}
