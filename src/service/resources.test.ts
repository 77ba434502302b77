import { mkdtempSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../config.ts'
import { openSecretKey } from './resources.ts'

/** Starts at the same moment on one data folder, as instances on a server may share one. */
const starts = 20

test('starts at the same moment on one data folder get one generated secret key, whole, and leave nothing else behind', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-secret-'))
  const config = loadConfig({ PORTICO_DATA_DIR: folder }, folder)
  const keys = await Promise.all(Array.from({ length: starts }, () => openSecretKey(config)))
  expect(new Set(keys).size).toBe(1)
  expect(Buffer.from(keys[0]!, 'base64url')).toHaveLength(32)
  expect(readdirSync(folder)).toEqual(['secret.key'])
  expect(await openSecretKey(config)).toBe(keys[0])
  await rm(folder, { recursive: true })
})
