import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')

/** Builds the console before the first test if it is older than its source. */
export default function buildOnce(): void {
  const built = statSync(path.join(root, 'dist/console/index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(path.join(root, 'web'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const newest = Math.max(...sources.map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs))
  if (built < newest)
    execFileSync(path.join(root, 'bin/run'), ['scripts/build-console.ts'], { cwd: root, stdio: 'inherit' })
}
