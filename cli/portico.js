#!/usr/bin/env node
// Starts cli/main.ts, which is TypeScript as it is: by this Node where it strips types, else by the one among the dependencies.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import process from 'node:process'

const main = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'main.ts')

if (Number(process.versions.node.split('.')[0]) >= 24) await import(main)
else {
  const node = path.join(path.dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin', 'node')
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', main, ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? code : 1
  })
}
