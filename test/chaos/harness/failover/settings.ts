import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { NodeLinks } from './node.ts'

/** The examples of deploy/ with other addresses and folders. */

const example = (name: string) => readFileSync(path.resolve(import.meta.dirname, '../../../../deploy', name), 'utf8')
const addressOf = ({ url }: { url: string }) => new URL(url).host
const loopback = (port: number) => `127.0.0.1:${port}`

export interface NodeSettings {
  name: string
  /** Of the node, as its processes see it. */
  folder: string
  ports: { postgres: number; rest: number }
  links: NodeLinks
  binFolder: string
}

/** deploy/patroni.yml for a node that others reach through its links only. */
export function patroniSettings({ name, folder, ports, links, binFolder }: NodeSettings): object {
  const settings = parse(example('patroni.yml'))
  return {
    ...settings,
    name,
    restapi: { listen: loopback(ports.rest), connect_address: addressOf(links.rest) },
    // Patroni would ask etcd for its own address otherwise.
    etcd3: { hosts: [addressOf(links.etcd)], use_proxies: true },
    postgresql: {
      ...settings.postgresql,
      listen: loopback(ports.postgres),
      connect_address: addressOf(links.postgres),
      data_dir: `${folder}/data`,
      bin_dir: binFolder,
      pgpass: `${folder}/pgpass`,
      // Processes are killed, the machine is not.
      parameters: { unix_socket_directories: folder, fsync: 'off' },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
  }
}

/** deploy/haproxy.cfg. */
export function haproxySettings([primary, replica]: readonly number[], [first, second]: readonly NodeLinks[]): string {
  let text = example('haproxy.cfg')
  const replace = (from: string, to: string) => {
    if (!text.includes(from)) throw new Error(`deploy/haproxy.cfg has no ${from}`)
    text = text.replaceAll(from, to)
  }
  const server = ({ postgres, rest }: NodeLinks) => `${addressOf(postgres)} check port ${new URL(rest.url).port}`
  replace('127.0.0.1:5000', loopback(primary!))
  replace('127.0.0.1:5001', loopback(replica!))
  replace('10.0.0.11:5432 check port 8008', server(first!))
  replace('10.0.0.12:5432 check port 8008', server(second!))
  return text
}

/** One member, without the disk's fsync. */
export function etcdOptions(folder: string, client: string, peer: string): string[] {
  return [
    `--data-dir=${folder}`,
    '--name=etcd1',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd1=${peer}`,
    '--unsafe-no-fsync',
  ]
}
