import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { FaultProxy } from '../../../harness/ledger-crash/fault-proxy.ts'
import { descendantsOf } from '../processes.ts'

/** One PostgreSQL with its Patroni, and what can happen to it. */
export interface ClusterNode {
  name: string
  /** Of its PostgreSQL, past the proxy. */
  url: string
  isPrimary(): Promise<boolean>
  /** What Patroni knows of all nodes; undefined where it does not answer. */
  members(): Promise<Member[] | undefined>
  /** SIGKILL to PostgreSQL's main process. */
  kill(): void
  /** SIGSTOP to all processes, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Nothing reaches or leaves the node, until `reconnect`. */
  cutOff(): void
  reconnect(): void
  /** Of all processes. */
  end(): void
}

export interface Member {
  name: string
  role: string
  state: string
}

/** What goes through proxies: from others to the node, and from its Patroni to etcd. */
export interface NodeLinks {
  postgres: FaultProxy
  rest: FaultProxy
  etcd: FaultProxy
}

/** The machine is busy at times. */
const answerWithinMs = 3_000

export interface NodeOptions {
  name: string
  patroni: ChildProcess
  /** Of its PostgreSQL and its Patroni, past the proxies. */
  url: string
  restUrl: string
  links: NodeLinks
  dataFolder: string
}

export function createNode({ name, patroni, url, restUrl, links, dataFolder }: NodeOptions): ClusterNode {
  let frozen: number[] = []
  const postmaster = () => Number(readFileSync(path.join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0])
  /** Undefined where no whole answer comes in time. */
  const ask = async (target: string) => {
    try {
      const answer = await fetch(restUrl + target, { signal: AbortSignal.timeout(answerWithinMs) })
      return { status: answer.status, text: await answer.text() }
    } catch {
      return undefined
    }
  }
  return {
    name,
    url,
    isPrimary: async () => (await ask('/primary'))?.status === 200,
    async members() {
      const answer = await ask('/cluster')
      return answer?.status === 200 ? (JSON.parse(answer.text) as { members: Member[] }).members : undefined
    },
    kill: () => void process.kill(postmaster(), 'SIGKILL'),
    freeze() {
      // Patroni first: it would notice that the others are frozen.
      process.kill(patroni.pid!, 'SIGSTOP')
      const main = postmaster()
      process.kill(main, 'SIGSTOP')
      frozen = [main, ...descendantsOf(main), ...descendantsOf(patroni.pid!), patroni.pid!]
      signalAll(frozen, 'SIGSTOP')
    },
    thaw: () => signalAll(frozen, 'SIGCONT'),
    cutOff() {
      for (const link of Object.values(links) as FaultProxy[]) link.hang()
    },
    reconnect() {
      for (const link of Object.values(links) as FaultProxy[]) link.resume()
    },
    end() {
      signalAll([patroni.pid!], 'SIGKILL')
      signalAll([postmasterOrNone(postmaster)].flat(), 'SIGKILL')
    },
  }
}

function postmasterOrNone(read: () => number): number[] {
  try {
    return [read()]
  } catch {
    // It was not started.
    return []
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}
