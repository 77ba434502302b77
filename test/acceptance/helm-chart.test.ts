import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Ajv } from 'ajv'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/app/config/index.ts'
import { removeFolder } from '../harness/portico.ts'

/**
 * deploy/helm/portico, rendered with the libraries that Helm uses (test/harness/render-chart), without Helm and without a cluster. The
 * objects are compared with the types that kubernetes-types generates from the OpenAPI description of Kubernetes.
 */

const root = path.join(import.meta.dirname, '../..')
const chart = path.join(root, 'deploy/helm/portico')
const s3 = { files: { s3: { bucket: 'portico-files', region: 'eu-central-1' } } }
const secret = 'a-secret-value-of-the-tests-with-32-bytes-or-more'
const databaseUrl = `postgres://portico:${secret}@postgres/portico`

/** Every option of the chart that changes which objects or fields there are. */
const everything = {
  image: { repository: 'registry.example.com/portico', tag: '0.1.0-1', pullSecrets: ['registry'] },
  secrets: { operatorToken: { name: 'portico-operator' } },
  files: { store: 'folder', existingClaim: 'portico-files' },
  publicUrl: 'https://portico.example.com',
  trustProxy: '10.42.0.0/16',
  config: { server: { limits: { requestsPerMinute: 100 } } },
  env: [
    { name: 'PORTICO_LOG_LEVEL', value: 'warn' },
    { name: 'PORTICO_SSO_CLIENT_SECRET', valueFrom: { secretKeyRef: { name: 'sso', key: 'client-secret' } } },
  ],
  extraVolumes: [{ name: 'certificates', configMap: { name: 'company-ca' } }],
  extraVolumeMounts: [{ name: 'certificates', mountPath: '/etc/certificates', readOnly: true }],
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'portico', effect: 'NoSchedule' }],
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  priorityClassName: 'high',
  podAnnotations: { 'example.com/owner': 'platform' },
  podLabels: { team: 'platform' },
  serviceAccount: {
    name: 'portico-files',
    annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/portico' },
  },
  service: { type: 'LoadBalancer', port: 8080, annotations: { 'example.com/internal': 'true' } },
  ingress: { enabled: true, className: 'nginx', tlsSecretName: 'portico-tls' },
  autoscaling: { enabled: true },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
}

describe('values.schema.json', () => {
  const ajv = new Ajv({ strict: false })
  const schema = JSON.parse(readFileSync(path.join(chart, 'values.schema.json'), 'utf8'))
  const validate = ajv.compile(schema)
  const defaults = () => parse(readFileSync(path.join(chart, 'values.yaml'), 'utf8'))

  test('accepts the defaults and every option of the tests', () => {
    expect(validate(defaults()), JSON.stringify(validate.errors)).toBe(true)
    const keys = Object.keys(schema.properties).filter((key) => key !== 'global')
    expect(keys.sort()).toEqual(Object.keys(defaults()).sort())
    // Not merged: it has only what differs from the defaults.
    const partial = { ...everything, secrets: defaults().secrets, image: { ...defaults().image, ...everything.image } }
    expect(validate(partial), JSON.stringify(validate.errors)).toBe(true)
  })

  test.each([
    ['a misspelled option', { replica: 3 }],
    ['a misspelled option of a group', { ingress: { enable: true } }],
    ['a number as text', { replicas: '2' }],
    [
      'no Secret for the database',
      { secrets: { databaseUrl: { name: '', key: 'url' }, secretKey: { name: 'a', key: 'b' } } },
    ],
    ['an unknown store of files', { files: { store: 'disk' } }],
  ])('rejects %s', (_, change) => {
    expect(validate({ ...defaults(), ...change })).toBe(false)
  })
})

test('the chart has the version of Portico', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  expect(parse(readFileSync(path.join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version })
})

const libraries = '/usr/share/gocode'
const canRender = existsSync('/usr/bin/go') && existsSync(path.join(libraries, 'src/github.com/Masterminds/sprig'))

describe.skipIf(!canRender)('the rendered chart', () => {
  let folder: string
  let renderer: string

  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'portico-chart-'))
    renderer = path.join(folder, 'render-chart')
    const { status, stderr } = spawnSync('/usr/bin/go', ['build', '-o', renderer, './test/harness/render-chart'], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, GO111MODULE: 'off', GOPATH: libraries, GOFLAGS: '' },
    })
    expect(status, stderr).toBe(0)
  }, 120_000)
  afterAll(() => removeFolder(folder))

  const run = (values: object, release = 'portico') =>
    spawnSync(renderer, [chart, 'production', release], { input: JSON.stringify(values), encoding: 'utf8' })

  function render(values: object, release?: string) {
    const { status, stdout, stderr } = run(values, release)
    expect(status, stderr).toBe(0)
    const objects = parseAllDocuments(stdout).map((document) => {
      expect(document.errors).toEqual([])
      return document.toJS() as { apiVersion: string; kind: string; metadata: { name: string } }
    })
    return { objects, notes: stderr }
  }
  const deploymentOf = (values: object) =>
    render(values).objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment

  test('has only fields and values that Kubernetes knows', { timeout: 120_000 }, () => {
    const objects = [...render(s3).objects, ...render(everything, 'blue').objects]
    const unused = readdirSync(path.join(chart, 'templates'))
      .filter((name) => name.endsWith('.yaml') && name !== 'configmap.yaml')
      .filter((name) => !objects.some(({ kind }) => `${kind.toLowerCase()}.yaml` === name))
    expect(unused, 'a template that the tests do not render').toEqual([])
    expect(checkTypes(objects)).toEqual('')
    // The check itself finds a misspelled field, however deep it is.
    const text = JSON.stringify(objects)
    for (const [good, bad] of [
      ['readOnlyRootFilesystem', 'readOnlyRootFileSystem'],
      ['topologyKey', 'topologykey'],
      ['"port":9464', '"port":"9464"'],
    ]) {
      expect(text).toContain(good)
      expect(checkTypes(JSON.parse(text.replace(good!, bad!)))).not.toBe('')
    }
  })

  test('runs two instances as another user than root, on a read-only file system, without a token', () => {
    for (const values of [s3, everything]) {
      const { spec } = deploymentOf(values)
      const pod = spec!.template.spec!
      const dockerfile = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
      const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext!
      expect(runAsNonRoot).toBe(true)
      expect(dockerfile).toContain(`USER ${runAsUser}:${runAsGroup}\n`)
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(pod.containers[0]!.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(
        pod.containers[0]!.volumeMounts!.filter(({ readOnly }) => !readOnly).map(({ mountPath }) => mountPath),
      ).toEqual(['/tmp', '/data'])
    }
    expect(deploymentOf(s3).spec!.replicas).toBe(2)
    // The autoscaler sets it.
    expect(deploymentOf(everything).spec!.replicas).toBeUndefined()
  })

  test.each([
    ['by default', s3],
    ['with other times', { ...s3, shutdown: { delayMs: 20_000, graceMs: 1_200_000 } }],
  ])('may stop for as long as the service needs, %s', (_, values) => {
    const { template } = deploymentOf(values).spec!
    const { settings } = loadConfig(settingsOf(deploymentOf(values)), folder)
    const { shutdownDelayMs, shutdownGraceMs } = settings.server
    expect(template.spec!.terminationGracePeriodSeconds! * 1_000).toBeGreaterThan(
      shutdownDelayMs + shutdownGraceMs + 5_000,
    )
    const { periodSeconds, timeoutSeconds, failureThreshold } = template.spec!.containers[0]!.readinessProbe!
    expect((periodSeconds! + timeoutSeconds!) * failureThreshold! * 1_000).toBeLessThan(shutdownDelayMs)
  })

  test('passes settings and secret files that the service accepts', () => {
    const first = loadConfig(settingsOf(deploymentOf(s3)), folder)
    expect(first.secrets).toMatchObject({ databaseUrl })
    expect(first.settings.documents.blobs).toMatchObject({
      kind: 's3',
      bucket: 'portico-files',
      region: 'eu-central-1',
    })
    const { settings, secrets } = loadConfig(settingsOf(deploymentOf(everything)), folder)
    expect(secrets).toMatchObject({ databaseUrl, operatorToken: secret })
    expect(settings.server.trustProxy).toEqual(['10.42.0.0/16'])
    expect(settings.demo).toBe(false)
    expect(JSON.stringify(settings)).toContain('https://portico.example.com')
  })

  test('selects its own pods everywhere, and names ports that the container has', () => {
    const { objects } = render({ ...everything, autoscaling: { enabled: false } }, 'blue')
    const { spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as Deployment
    const labels = spec!.template.metadata!.labels!
    const selectors = JSON.stringify(objects).match(/"(?:matchLabels|selector)":\{"app\.kubernetes[^}]*\}/g)!
    // Deployment, two spreads, Service, PodDisruptionBudget, NetworkPolicy, ServiceMonitor
    expect(selectors).toHaveLength(7)
    for (const selector of selectors) expect(labels).toMatchObject(JSON.parse(selector.slice(selector.indexOf('{'))))
    const ports = spec!.template.spec!.containers[0]!.ports!.map(({ name }) => name)
    const service = objects.find(({ kind }) => kind === 'Service') as unknown as {
      spec: { ports: { name: string; targetPort: string }[] }
    }
    for (const { targetPort } of service.spec.ports) expect(ports).toContain(targetPort)
    expect(new Set(objects.map(({ metadata }) => metadata.name))).toEqual(new Set(['blue-portico', 'portico-files']))
  })

  test('is refused where instances would not share the uploaded files, and its notes name what is missing', () => {
    expect(run({})).toMatchObject({ status: 1, stderr: expect.stringContaining('Set files.s3.bucket') })
    expect(run({ files: { store: 'folder' } })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Set files.existingClaim'),
    })
    expect(render(s3).notes).toContain('trustProxy is empty')
    expect(render(everything).notes).not.toContain('trustProxy is empty')
  })

  /** The variables of the container; values of Secrets and mounted files are in the folder of the test. */
  function settingsOf(deployment: Deployment): Record<string, string> {
    const pod = deployment.spec!.template.spec!
    const projected = pod.volumes!.find(({ name }) => name === 'secrets')!.projected!.sources!
    for (const { secret: source } of projected) {
      for (const item of source!.items!)
        writeFileSync(path.join(folder, item.path), item.path === 'database-url' ? databaseUrl : secret)
    }
    writeFileSync(path.join(folder, 'portico.yaml'), '{}')
    const mounted = Object.fromEntries(pod.containers[0]!.volumeMounts!.map(({ name, mountPath }) => [name, mountPath]))
    return Object.fromEntries(
      pod.containers[0]!.env!.map(({ name, value }) => [
        name,
        (value ?? secret).replace(mounted['secrets']!, folder).replace(mounted['config'] ?? '\0', folder),
      ]),
    )
  }
})

/** The complaints of TypeScript about objects as literals of their types: unknown fields, missing ones, other types. */
function checkTypes(objects: { apiVersion: string; kind: string }[]): string {
  // TypeScript finds the packages from there.
  const cache = path.join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(path.join(cache, 'portico-chart-'))
  try {
    const lines = objects.map((object, index) => {
      const type = typeOf(object)
      return `export const object${index}: ${type} = ${JSON.stringify(object)}`
    })
    writeFileSync(path.join(folder, 'objects.ts'), lines.join('\n'))
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--types',
      '',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
    ]
    const { stdout } = spawnSync(path.join(root, 'node_modules/.bin/tsc'), [...options, 'objects.ts'], {
      cwd: folder,
      encoding: 'utf8',
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function typeOf({ apiVersion, kind }: { apiVersion: string; kind: string }): string {
  // Not of Kubernetes itself. The fields that the chart uses: https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.ServiceMonitor
  if (apiVersion === 'monitoring.coreos.com/v1' && kind === 'ServiceMonitor') {
    return `{ apiVersion: string, kind: string, metadata: import('kubernetes-types/meta/v1').ObjectMeta, spec: {
      selector: import('kubernetes-types/meta/v1').LabelSelector, endpoints: { port: string, path: string, interval: string }[] } }`
  }
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
  return `import('kubernetes-types/${group!.replace('.k8s.io', '')}/${version}').${kind}`
}
