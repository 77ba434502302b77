import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** The sources of the last release, with the packages of this version. */
export interface LastRelease {
  folder: string
  remove(): void
}

const repository = path.resolve(import.meta.dirname, '../..')
const git = (...words: string[]) => execFileSync('git', words, { cwd: repository, maxBuffer: 1024 ** 3 })

/** The commit that last changed the version; undefined where the history does not have it. */
function releaseCommit(): string | undefined {
  try {
    if (git('rev-parse', '--is-shallow-repository').toString().trim() === 'true') return undefined
    return git('log', '-1', '--format=%H', '-G"version": "', '--', 'package.json').toString().trim() || undefined
  } catch {
    return undefined
  }
}

export const lastReleaseCommit = releaseCommit()

export function checkOutLastRelease(commit: string): LastRelease {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-release-'))
  const archive = git('archive', commit, 'package.json', 'bin', 'src', 'cli')
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'))
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}
