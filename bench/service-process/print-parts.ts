import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { descendantsOf } from '../../test/chaos/harness/processes.ts'
import { createApiClient, organisationMakers } from '../../test/harness/portico.ts'
import { type ServiceProcess, startServiceProcess } from '../service-process.ts'
import { readResidentMemory } from './resident-memory.ts'

const restMs = 60_000
const firstRestMs = 10_000
/** Each 7.6 MB: many messages, because one has at most 200,000 characters. */
const largeRequests = 12
const largeRequestsAtOnce = 4
const messagesOfLargeRequest = 40
const charactersOfMessage = 190_000

/**
 * Prints what each part of a service takes: freshly started, after a few large requests, and a minute later. Its data folder is that
 * of an earlier start.
 */
export async function printParts(): Promise<void> {
  const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-memory-'))
  try {
    const first = await startServiceProcess({ dataFolder })
    await first.stop()
    const service = await startServiceProcess({ dataFolder })
    try {
      await delay(firstRestMs)
      await print('freshly started, at rest', service)
      await sendLargeRequests(service)
      await print('after large requests', service)
      await delay(restMs)
      await print('after a minute of rest', service)
    } finally {
      await service.stop()
    }
  } finally {
    fs.rmSync(dataFolder, { recursive: true, force: true })
  }
}

async function sendLargeRequests({ url, operatorToken }: ServiceProcess): Promise<void> {
  const makers = organisationMakers(url, createApiClient(url, operatorToken))
  const { client } = await makers.createOrganisation({ monthlyBudgetUsd: '1000000' })
  const content = 'The garden has roses. '.repeat(charactersOfMessage / 20).slice(0, charactersOfMessage)
  const messages = Array.from({ length: messagesOfLargeRequest }, () => ({ role: 'user', content }))
  let next = 0
  const send = async () => {
    // The answer may be a refusal because of the model's context window: the body was parsed and counted before.
    while (next++ < largeRequests)
      await client('POST', '/v1/gateway/chat/completions', { model: 'portico/offline', messages })
  }
  await Promise.all(Array.from({ length: largeRequestsAtOnce }, send))
}

async function print(title: string, { pid, report }: ServiceProcess): Promise<void> {
  const { heaps } = await report()
  const { files, webAssembly, code, malloc, other, total } = readResidentMemory(pid)
  const children = descendantsOf(pid).map((child) => readResidentMemory(child).total)
  const heapBytes = heaps.reduce((sum, heap) => sum + heap.bytes, 0)
  const rows: [string, number][] = [
    ...heaps.map(({ name, bytes }, index): [string, number] => [`JavaScript heap, ${name} ${index || ''}`, bytes]),
    ['memory of WebAssembly (databases)', webAssembly],
    ['machine code', code],
    ['malloc', malloc],
    ['large buffers, stacks', Math.max(other - heapBytes, 0)],
    ['program and libraries', files],
    ...children.map((bytes, index): [string, number] => [`child process ${index + 1}`, bytes]),
    ['all', total + children.reduce((sum, bytes) => sum + bytes, 0)],
  ]
  console.log(`\n${title}, MB resident (load ${os.loadavg()[0]!.toFixed(0)})`)
  for (const [name, bytes] of rows) console.log(`  ${name.padEnd(40)}${(bytes / 1e6).toFixed(0).padStart(6)}`)
}
