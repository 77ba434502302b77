import { once } from 'node:events'
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { loadConfig } from '../config/index.ts'
import { openBlobStore } from './document-stores.ts'
import { openSecretKey } from './secret-key.ts'

/** Reads each named file in a loop until it exists, and posts its first content. */
const pollingReader = `
  const { readFileSync } = require('node:fs')
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (file) => {
    parentPort.postMessage('reading')
    for (;;) {
      try {
        parentPort.postMessage(readFileSync(file, 'utf8'))
        break
      } catch {}
    }
  })`
/** A file that is created empty and filled later is read empty in about every fifth round. */
const rounds = 30

test('a data folder and a secret key are accessible to this user only', async () => {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'portico-secret-'))
  const folder = path.join(parent, 'data')
  await openSecretKey(loadConfig({ PORTICO_DATA_DIR: folder }, parent))
  const modeOf = (name: string) => statSync(name).mode & 0o777
  expect(modeOf(folder)).toBe(0o700)
  expect(modeOf(path.join(folder, 'secret.key'))).toBe(0o600)
  await openBlobStore(loadConfig({ PORTICO_DATA_DIR: folder }, parent))
  expect(modeOf(path.join(folder, 'blobs'))).toBe(0o700)
  await rm(parent, { recursive: true })
})

test('a generated secret key is never visible in part to another process', async () => {
  const reader = new Worker(pollingReader, { eval: true })
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-secret-'))
    const config = loadConfig({ PORTICO_DATA_DIR: folder }, folder)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    reader.postMessage(path.join(folder, 'secret.key'))
    await once(reader, 'message')
    const firstContent = once(reader, 'message')
    const keys = await Promise.all([openSecretKey(config), openSecretKey(config)])
    const [seen] = await firstContent
    expect(Buffer.from(seen, 'base64url')).toHaveLength(32)
    expect(keys).toEqual([seen, seen])
    expect(readdirSync(folder)).toEqual(['secret.key'])
    await rm(folder, { recursive: true })
  }
  await reader.terminate()
})
