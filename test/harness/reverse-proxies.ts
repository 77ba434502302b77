import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { testCertificate, testCertificateKey } from '../upstream/test-certificate.ts'
import { freePort } from './portico.ts'

/** The examples of deploy/ as real proxies with TLS. Only names, addresses and folders are replaced. */

interface ReverseProxy {
  program: string
  /** SIGKILL to nginx would leave its worker; Caddy would wait for open connections after SIGTERM. */
  endedBy: NodeJS.Signals
  /** Writes the configuration for a port into the folder, and returns the arguments of the program. */
  configure(folder: string, port: number, upstreamPorts: readonly number[]): string[]
}

export interface RunningProxy {
  url: string
  stop(): Promise<void>
}

const example = (name: string) => readFileSync(path.join(import.meta.dirname, '../../deploy', name), 'utf8')

/** Fails where the example no longer has the text, so that no test runs with its address of production. */
function replaceAll(text: string, replacements: Record<string, string>): string {
  for (const [from, to] of Object.entries(replacements)) {
    expect(text).toContain(from)
    text = text.replaceAll(from, to)
  }
  return text
}

/** A line of nginx.conf for a further instance. */
const otherServer = '# server 127.0.0.1:8081 max_fails=1 fail_timeout=5s;'

export const reverseProxies: Record<'nginx' | 'Caddy', ReverseProxy> = {
  nginx: {
    program: '/usr/sbin/nginx',
    endedBy: 'SIGTERM',
    configure(folder, port, [first, ...others]) {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      )
      const text = replaceAll(example('nginx.conf'), {
        'http {': `http {\naccess_log off;\n${temporary.join('\n')}\n`,
        'listen 443': `listen 127.0.0.1:${port}`,
        '/etc/ssl/portico': folder,
        '127.0.0.1:8080': `127.0.0.1:${first}`,
        [otherServer]: others.map((other) => otherServer.slice(2).replace('8081', String(other))).join('\n'),
      })
      const file = path.join(folder, 'nginx.conf')
      writeFileSync(file, text)
      const own = `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;`
      return ['-c', file, '-e', `${folder}/error.log`, '-g', own]
    },
  },
  Caddy: {
    program: '/usr/bin/caddy',
    endedBy: 'SIGKILL',
    configure(folder, port, upstreamPorts) {
      const text = replaceAll(example('Caddyfile'), {
        'portico.example.com {': `https://127.0.0.1:${port} {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
        '127.0.0.1:8080': upstreamPorts.map((upstream) => `127.0.0.1:${upstream}`).join(' '),
      })
      const file = path.join(folder, 'Caddyfile')
      writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
}

export const isInstalled = (proxy: ReverseProxy) => existsSync(proxy.program)

/** Starts a proxy with the test certificate in front of these ports. It does not listen at once. */
export async function startReverseProxy(proxy: ReverseProxy, upstreamPorts: readonly number[]): Promise<RunningProxy> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-proxy-'))
  // nginx's workers are another user.
  chmodSync(folder, 0o755)
  writeFileSync(path.join(folder, 'fullchain.pem'), testCertificate)
  writeFileSync(path.join(folder, 'privkey.pem'), testCertificateKey)
  const port = await freePort()
  const given = proxy.configure(folder, port, upstreamPorts)
  const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child: ChildProcess = spawn(proxy.program, given, { stdio: 'ignore', env: environment })
  const ended = once(child, 'exit')
  return {
    url: `https://127.0.0.1:${port}`,
    async stop() {
      child.kill(proxy.endedBy)
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}
