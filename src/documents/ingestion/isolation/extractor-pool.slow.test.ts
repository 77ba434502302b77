import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rename, symlink } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import { collectGarbage } from '../../../platform/kernel/index.ts'
import type { Chunk } from '../extraction.ts'
import { buildPdf, buildTextPdf } from '../testing/build-documents.ts'
import { ExtractorCrashError, MemoryPressureError } from './extraction-run.ts'
import type { ExtractorPool } from './extractor-pool.ts'
import { chunking, type ExtractorStage, lines, openExtractorStage } from '../testing/extractor-stage.ts'

let stage: ExtractorStage
let folder: string
let pool: ExtractorPool
beforeAll(async () => {
  stage = await openExtractorStage()
  folder = stage.folder
})
afterEach(() => stage.endTest())
afterAll(() => stage.remove())

const startPool = (...given: Parameters<ExtractorStage['startPool']>) => (pool = stage.startPool(...given))

test('a process that waits for the next file keeps nothing of the last one', async () => {
  startPool()
  const done = await extractAndForget()
  await nextTurn()
  collectGarbage()
  await nextTurn()
  expect(pool.load().processes).toBe(1)
  expect(done.deref()).toBeUndefined()
})

/** Resolves to what only the finished extraction refers to. */
async function extractAndForget(): Promise<WeakRef<object>> {
  const onProgress = () => {}
  const { chunks, summary } = pool.extract({ ...(await stage.put('last.txt', 'The garden has roses.')), onProgress })
  expect((await Array.fromAsync(chunks)).flat()).toHaveLength(1)
  await summary
  return new WeakRef(onProgress)
}

test('a file is read through a link to its folder', async () => {
  const linked = path.join(folder, 'linked')
  await symlink(folder, linked)
  startPool({}, 1, undefined, linked)
  const { filePath, ...file } = await stage.put('linked.txt', 'A text behind a link.')
  const { chunks } = pool.extract({ ...file, filePath: path.join(linked, path.basename(filePath)) })
  expect((await Array.fromAsync(chunks)).flat().map(({ text }) => text)).toEqual(['A text behind a link.'])
})

describe('reading', () => {
  test('chunks come in order, with a summary and progress', async () => {
    startPool()
    const pages = Array.from({ length: 30 }, (_, index) => ({
      texts: [{ text: `This is page number ${index + 1}`, x: 50, y: 700 }],
    }))
    const progress: [number, number | null][] = []
    const { chunks, summary } = pool.extract({
      ...(await stage.put('pages.pdf', buildTextPdf(pages))),
      onProgress: (done, total) => progress.push([done, total]),
    })
    const all = (await Array.fromAsync(chunks)).flat()
    expect(all.map(({ text, pageFrom }) => [text, pageFrom])).toEqual(
      pages.map((_, index) => [`This is page number ${index + 1}`, index + 1]),
    )
    expect(await summary).toEqual({ pages: 30, warnings: [] })
    expect(progress.at(-1)).toEqual([30, 30])
  })

  test('a further child starts while a file is read that may take long', async () => {
    startPool({}, 2)
    const { chunks } = pool.extract({ ...(await stage.put('long.txt', lines(2_000))), isLong: true })
    for await (const _ of chunks) {
      await vi.waitUntil(() => pool.load().processes === 2, { timeout: 30_000 })
      break
    }
  })

  test('more files than children wait for their turn', async () => {
    startPool({}, 2)
    const texts = await Promise.all(
      Array.from({ length: 9 }, (_, index) => stage.read(`turn-${index}.txt`, `File ${index}`)),
    )
    expect(texts.map(({ text }) => text)).toEqual(Array.from({ length: 9 }, (_, index) => `File ${index}`))
  })

  test('a slow consumer pauses the child, and its time does not count against the file', async () => {
    startPool()
    await pool.warm()
    const { chunks } = pool.extract(await stage.put('slow.txt', lines(20_000)))
    const all: Chunk[] = []
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for await (const batch of chunks) {
      // Longer than any file may take.
      if (all.length === 0) vi.advanceTimersByTime(24 * 3_600_000)
      all.push(...batch)
    }
    expect(all).toHaveLength(20_000)
  })

  test('time in which the child gets no processor does not count against the file', async () => {
    const timeLimitMs = 500
    startPool({ timeLimitMs })
    await pool.warm()
    const [pid] = pool.processIds()
    process.kill(pid!, 'SIGSTOP')
    const reading = stage.read('starved.txt', 'A short text.')
    reading.catch(() => {})
    // The elapsed time is what is tested.
    await delay(timeLimitMs + 100)
    process.kill(pid!, 'SIGCONT')
    expect((await reading).text).toBe('A short text.')
  })

  test('an extraction can continue at any chunk, and counts those before it', async () => {
    startPool({ maximumChunks: 20_000 })
    const file = await stage.put('continued.txt', lines(20_000))
    const chunksFrom = async (fromChunk: number) =>
      (await Array.fromAsync(pool.extract({ ...file, fromChunk }).chunks)).flat()
    const all = await chunksFrom(0)
    for (const from of [1, 100, 19_999, 20_000]) expect(await chunksFrom(from)).toEqual(all.slice(from))
    const limited = pool.extract({ ...file, fromChunk: Infinity, limits: { maximumChunks: 19_999 } })
    await expect(Array.fromAsync(limited.chunks)).rejects.toMatchObject({
      code: 'too_complex',
      message: expect.stringContaining('19999') as unknown,
    })
  })

  test('a child receives nothing of the service’s environment', async () => {
    process.env.PORTICO_TEST_SECRET = 'a secret'
    startPool()
    await pool.warm()
    delete process.env.PORTICO_TEST_SECRET
    const file = `/proc/${pool.processIds()[0]}/environ`
    if (!existsSync(file)) return
    const names = (await readFile(file, 'utf8')).split('\0').map((entry) => entry.split('=')[0])
    expect(names.filter((name) => name !== '' && !name!.startsWith('NODE_CHANNEL'))).toEqual([])
  })

  test('a file outside of the readable folders is not read', async () => {
    startPool()
    const filePath = path.join(import.meta.dirname, '../../../../tsconfig.json')
    const { chunks } = pool.extract({ filePath, format: 'txt', sizeBytes: 100 })
    await expect(Array.fromAsync(chunks)).rejects.toThrow(/restricted/)
  })
})

describe('failures and ends', () => {
  test('a file that takes too long fails, and the next one is read', async () => {
    // Processor time: far above what the next file takes, far below this one.
    startPool({ timeLimitMs: 500 })
    await expect(stage.read('long.md', `${lines(400_000)}`)).rejects.toMatchObject({ code: 'processing_timeout' })
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
  })

  test('a file that takes too much memory fails, and the next one is read', async () => {
    // A process at rest takes about 145 MB, and this file more than 200.
    startPool({ memoryLimitBytes: 250 * 1024 * 1024 })
    const bomb = buildPdf([
      { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
      { dictionary: '<< /Type /Pages /Count 1 /Kids [3 0 R] >>' },
      { dictionary: '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>' },
      { dictionary: '<< >>', stream: Buffer.alloc(200_000_000, ' ') },
    ])
    await expect(stage.read('bomb.pdf', bomb)).rejects.toMatchObject({ code: 'out_of_memory' })
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
  })

  test('a child killed from outside is a retryable error, and is replaced', async () => {
    startPool()
    await pool.warm()
    const [pid] = pool.processIds()
    const { chunks, summary } = pool.extract(await stage.put('killed.txt', lines(20_000)))
    await expect(
      (async () => {
        for await (const _ of chunks) process.kill(pid!, 'SIGKILL')
      })(),
    ).rejects.toBeInstanceOf(ExtractorCrashError)
    await expect(summary).rejects.toBeInstanceOf(ExtractorCrashError)
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
    expect(pool.processIds()).not.toContain(pid)
  })

  test('an aborted extraction ends with the reason, running or waiting', async () => {
    startPool()
    await pool.warm()
    const controller = new AbortController()
    const running = pool.extract({ ...(await stage.put('big.txt', lines(20_000))), signal: controller.signal }).chunks
    const waiting = pool.extract({ ...(await stage.put('next.txt', 'words')), signal: controller.signal }).chunks
    const iterator = running[Symbol.asyncIterator]()
    await iterator.next()
    const ends = [Array.fromAsync({ [Symbol.asyncIterator]: () => iterator }), Array.fromAsync(waiting)]
    controller.abort(new Error('the document was deleted'))
    for (const end of ends) await expect(end).rejects.toThrow('the document was deleted')
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
  })

  test('a consumer that leaves early frees the child', async () => {
    startPool()
    const { chunks, summary } = pool.extract(await stage.put('left.txt', lines(20_000)))
    for await (const _ of chunks) break
    await expect(summary).rejects.toThrow('left before its end')
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
  })

  test('closing ends running extractions and all children', async () => {
    startPool({}, 2)
    await pool.warm()
    const pids = pool.processIds()
    const iterator = pool.extract(await stage.put('open.txt', lines(20_000))).chunks[Symbol.asyncIterator]()
    await iterator.next()
    await pool.close()
    await expect(Array.fromAsync({ [Symbol.asyncIterator]: () => iterator })).rejects.toThrow('shutting down')
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow()
  })

  test('children start when files wait for them, at most as many as the pool allows, and end a minute after the last file', async () => {
    const clock = createFakeClock()
    startPool({}, 2, clock)
    expect(pool.processIds()).toEqual([])
    await stage.read('one.txt', 'A single file.')
    expect(pool.processIds()).toHaveLength(1)

    await Promise.all(['a', 'b', 'c', 'd'].map((name) => stage.read(`${name}.txt`, lines(2_000))))
    const pids = pool.processIds()
    expect(pids).toHaveLength(2)
    // The second one may have come up after the last file.
    await pool.warm()

    await clock.advance(50_000)
    expect(pool.processIds()).toEqual(pids)
    await clock.advance(20_000)
    await expect.poll(() => pids.filter(isRunning)).toEqual([])
    expect(pool.processIds()).toEqual([])
    expect((await stage.read('after.txt', 'Well again.')).text).toBe('Well again.')
  })

  test('files of large needs are read one after the other while all children take too much memory', async () => {
    const clock = createFakeClock()
    const needs = new Map<number, number>()
    const gibibyte = 1024 ** 3
    pool = stage.startPool({}, 2, clock, folder, (pid) => needs.get(pid) ?? 0)
    await pool.warm()
    const iterate = async (name: string, mayMove: boolean) => {
      const { chunks } = pool.extract({ ...(await stage.put(name, lines(20_000))), mayMove })
      const iterator = chunks[Symbol.asyncIterator]()
      await iterator.next()
      return { [Symbol.asyncIterator]: () => iterator }
    }
    const [kept, moved] = [await iterate('kept.txt', false), await iterate('moved.txt', true)]
    for (const pid of pool.processIds()) needs.set(pid, gibibyte)
    await clock.advance(1_000)
    await expect(Array.fromAsync(moved)).rejects.toBeInstanceOf(MemoryPressureError)
    expect((await Array.fromAsync(kept)).flat().length).toBeGreaterThan(10_000)
    // Alone, it is read whatever it needs.
    const alone = await iterate('moved.txt', true)
    for (const pid of pool.processIds()) needs.set(pid, gibibyte)
    await clock.advance(1_000)
    expect((await Array.fromAsync(alone)).flat().length).toBeGreaterThan(10_000)
  })

  test('children end by themselves when the pool’s process is killed, even while they read', async () => {
    const { filePath } = await stage.put('orphan.txt', lines(20_000))
    const script = `
      import { createExtractorPool } from ${JSON.stringify(path.join(import.meta.dirname, 'extractor-pool.ts'))}
      const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
      const pool = createExtractorPool({ size: 2, log, chunking: ${JSON.stringify(chunking)}, readableFolders: [${JSON.stringify(folder)}] })
      await pool.warm()
      for await (const _ of pool.extract({ filePath: ${JSON.stringify(filePath)}, format: 'txt', sizeBytes: 1 }).chunks) {
        console.log(JSON.stringify(pool.processIds()))
        await new Promise(() => {})
      }`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const pids = await new Promise<number[]>((resolve) =>
      parent.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()) as number[])),
    )
    expect(pids).toHaveLength(2)
    parent.kill('SIGKILL')
    await expect.poll(() => pids.filter(isRunning), { timeout: 5000, interval: 20 }).toEqual([])
  })

  test('idle children do not keep their parent running', async () => {
    const script = `
      import { createExtractorPool } from ${JSON.stringify(path.join(import.meta.dirname, 'extractor-pool.ts'))}
      const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }
      await createExtractorPool({ size: 1, log, chunking: ${JSON.stringify(chunking)} }).warm()
      console.log('done')`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 10_000,
    })
    expect(stdout).toBe('done\n')
  })
})

/** False also for a process that has ended and waits to be noticed by a parent that never looks. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return true
}

test('files that wait while a readable folder is away are read when it is back', async () => {
  const file = await stage.put('away.txt', 'One paragraph.')
  const reader = startPool()
  await rename(folder, `${folder}-away`)
  const read = async () => {
    for await (const _ of reader.extract(file).chunks);
  }
  const first = read()
  first.catch(() => {})
  await rename(`${folder}-away`, folder)
  await first
  await read()
  expect(reader.load()).toMatchObject({ processes: 1, busy: 0, waiting: 0 })
})
