import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeTemporaryFolder } from '../../../test/harness/temporary-folder.ts'
import { ConfigError, loadConfig } from './config.ts'

function folderWith(files: Record<string, string> = {}): string {
  const folder = makeTemporaryFolder('config')
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text)
  return folder
}

describe('the configuration', () => {
  it('listens on loopback, port 8080, when nothing is set', () => {
    const { settings } = loadConfig({}, folderWith())
    expect(settings.server).toMatchObject({ host: '127.0.0.1', port: 8080 })
  })

  it('takes PORT, HOST and PORTICO_DATA_DIR from the environment, over the file', () => {
    const folder = folderWith({ 'portico.yaml': 'server:\n  port: 9000\n  host: 10.0.0.1\n' })
    const { settings, explicit } = loadConfig({ PORT: '9001', PORTICO_DATA_DIR: 'elsewhere' }, folder)
    expect(settings.server).toMatchObject({ port: 9001, host: '10.0.0.1' })
    expect(settings.dataFolder).toBe(path.join(folder, 'elsewhere'))
    expect(explicit.has('server.port')).toBe(true)
    expect(explicit.has('metrics.port')).toBe(false)
  })

  it.each(['auto', 'json', 'text', 'pretty'])('accepts PORTICO_LOG_FORMAT=%s', (format) => {
    expect(loadConfig({ PORTICO_LOG_FORMAT: format }, folderWith()).settings.log.format).toBe(format)
  })

  it.each([
    [{ PORTICO_LOG_FORMAT: 'yaml' }, /^PORTICO_LOG_FORMAT must be/],
    [{ PORT: 'eighty' }, /^PORT must be/],
    [{ PORTICO_OLLAMA_URL: 'http://169.254.169.254/' }, /^ollama\.url names a link-local or metadata address/],
    [{ PORTICO_S3_ENDPOINT: 'http://2852039166/' }, /^documents\.blobs\.endpoint names a link-local/],
    [{ PORTICO_WEBHOOK_NETWORKS: '10.0.0.0/33' }, /^PORTICO_WEBHOOK_NETWORKS must be an IP address or a network/],
    [{ PORT: '70000' }, /^PORT must be/],
    [{ PORTICO_OPERATOR_TOKEN: 'x'.repeat(23) }, /PORTICO_OPERATOR_TOKEN must have at least 24 characters/],
    [{ PORTICO_OPERATOR_TOKEN: `${'x'.repeat(20)} ${'x'.repeat(20)}` }, /PORTICO_OPERATOR_TOKEN must have visible/],
    [{ OPENAI_API_KEY: 'sk-a\nx-forged: 1' }, /OPENAI_API_KEY must have visible ASCII/],
    [{ OPENAI_API_KEY: 'sk-a\u007f' }, /OPENAI_API_KEY must have visible ASCII/],
    [{ PORTICO_LEDGER_KEEP_ENTRIES_DAYS: '61' }, /^PORTICO_LEDGER_KEEP_ENTRIES_DAYS must be at least 62\./],
    [{ PORTICO_DATADIR: 'x' }, /PORTICO_DATADIR is not a setting.*PORTICO_DATA_DIR/],
    [{ PORTICO_SECRET_KEY: 'short' }, /PORTICO_SECRET_KEY must have at least 32 bytes/],
    [{ PORTICO_CONFIG: 'missing.yaml' }, /PORTICO_CONFIG names .*missing\.yaml/],
    [{ OPENAI_API_KEY: 'a', OPENAI_API_KEY_FILE: 'b' }, /OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set/],
    [{ OPENAI_API_KEY_FILE: 'nowhere' }, /OPENAI_API_KEY_FILE: cannot read nowhere/],
  ])('refuses %j with an error that names the setting', (environment, message) => {
    expect(() => loadConfig(environment, folderWith())).toThrow(ConfigError)
    expect(() => loadConfig(environment, folderWith())).toThrow(message)
  })

  it.each([
    ['server:\n  prot: 80\n', /server\.prot is not a setting/],
    ['server:\n  port: -1\n', /server\.port must be/],
    ['providers:\n  - id: Bad Name\n', /providers\.0\.id: /],
    ['providers:\n  - id: a\n    apiKeyEnv: NOT_THERE\n', /providers\.0\.apiKeyEnv: .*NOT_THERE/],
    [
      'models:\n  - id: x\n    deployments: [{ provider: p, prices: { input: abc } }]\n',
      /models\.0\.deployments\.0\.prices\.input must be a decimal/,
    ],
    ['- a\n', /must hold a mapping/],
    ['a: [', /not valid YAML/],
  ])('refuses the file %j with an error that names the setting', (text, message) => {
    expect(() => loadConfig({}, folderWith({ 'portico.yaml': text }))).toThrow(message)
  })

  it('reads credentials and the sources of models and prices of a provider', () => {
    const folder = folderWith({
      'portico.yaml':
        'providers:\n  - id: bedrock-eu\n    format: bedrock\n    region: eu-central-1\n    hosting: eu\n    credentialsEnv: AWS_PAIR\n    priceLists: [bedrock-eu]\n    models: snapshot\n',
    })
    const { settings, secrets } = loadConfig({ AWS_PAIR: 'id:secret' }, folder)
    expect(secrets.providerCredentials.get('bedrock-eu')).toBe('id:secret')
    expect(settings.providers[0]).toMatchObject({ priceLists: ['bedrock-eu'], models: 'snapshot' })
  })

  it.each([
    ['apiKey: "sk-a\\u0000b"', /^providers\.0\.apiKey must have visible ASCII/],
    ['apiKeyFile: broken.key', /^providers\.0\.apiKey must have visible ASCII/],
    ['credentialsFile: broken.key', /^providers\.0\.credentials must have visible ASCII/],
    ['headers: { x-a: "b\\r\\nx-forged: 1" }', /^providers\.0\.headers\.x-a must have no line breaks/],
  ])('refuses a provider with %s without quoting it', (line, message) => {
    const yaml = `providers:\n  - id: p\n    baseUrl: https://example.org\n    ${line}\n`
    const folder = folderWith({ 'portico.yaml': yaml, 'broken.key': 'sk-one\nsk-two\n' })
    expect(() => loadConfig({}, folder)).toThrow(message)
    expect(() => loadConfig({}, folder)).not.toThrow(/sk-|forged/)
  })

  it.each([
    ['baseUrl: https://h.test, headers: { Host: other.test }', /^providers\.0\.headers\.Host/],
    ['baseUrl: https://h.test, headers: { content-length: "5" }', /^providers\.0\.headers\.content-length/],
    ['baseUrl: https://h.test, headers: { "x a": b }', /^providers\.0\.headers\.x a/],
    ['baseUrl: "https://me:secret@h.test"', /^providers\.0\.baseUrl must be an http\(s\) address without/],
    ['baseUrl: "ftp://h.test"', /^providers\.0\.baseUrl must be an http\(s\) address/],
    ['baseUrl: "https://h.test/v1#a"', /^providers\.0\.baseUrl must have no fragment/],
    ['format: anthropic, baseUrl: "https://h.test?a=secret"', /^providers\.0\.baseUrl must have no query/],
  ])('refuses a provider with %s as the API does', (fields, message) => {
    const folder = folderWith({ 'portico.yaml': `providers: [{ id: p, ${fields} }]\n` })
    expect(() => loadConfig({}, folder)).toThrow(message)
    expect(() => loadConfig({}, folder)).not.toThrow(/secret/)
  })

  it('refuses a standby without the server whose standby it is', () => {
    expect(() => loadConfig({ DATABASE_REPLICA_URL: 'postgres://h.test/d' }, folderWith({}))).toThrow(
      'DATABASE_REPLICA_URL is a standby of the server of DATABASE_URL, which is not set',
    )
  })

  it.each(['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL', 'PORTICO_CORPUS_DATABASE_URL'])(
    'refuses text in %s that is no address of a PostgreSQL server, without quoting it',
    (variable) => {
      const start = (address: string) => () =>
        loadConfig({ DATABASE_URL: 'postgres://h.test/d', [variable]: address }, folderWith({}))
      for (const address of [
        'secret',
        'http://a:secret@h.test/d',
        'h.test:5432/secret',
        'postgres://a:sec/ret@h.test:x/d',
      ]) {
        expect(start(address)).toThrow(`${variable} must be an address such as postgres://`)
        expect(start(address)).not.toThrow('secret')
      }
      for (const address of [
        'postgresql://a:b%2Fc@h.test/d',
        'postgres:///d?host=/run/postgresql',
        '/run/postgresql d',
      ])
        expect(start(address)).not.toThrow()
    },
  )

  it('names a file that cannot be read', () => {
    const folder = folderWith({})
    expect(() => loadConfig({ PORTICO_CONFIG: folder }, folder)).toThrow(`${folder} cannot be read: EISDIR`)
  })

  it('takes a key without the white space at its ends, wherever it comes from', () => {
    const yaml = (line: string) => `providers:\n  - id: p\n    baseUrl: https://example.org\n    ${line}\n`
    for (const line of ['apiKeyFile: a.key', 'apiKeyEnv: A_KEY', 'apiKey: "sk-a\\n"']) {
      const folder = folderWith({ 'portico.yaml': yaml(line), 'a.key': 'sk-a\r\n' })
      expect(loadConfig({ A_KEY: 'sk-a\n' }, folder).secrets.providerKeys.get('p')).toBe('sk-a')
    }
  })

  it('reads secrets from files and keeps them apart from the settings', () => {
    const folder = folderWith({
      'key.txt': 'sk-secret-from-file\n',
      'portico.yaml': 'providers:\n  - id: mistral\n    flavour: mistral\n    apiKeyFile: key.txt\n',
    })
    const config = loadConfig({ OPENAI_API_KEY_FILE: 'key.txt' }, folder)
    expect(config.secrets.openaiApiKey).toBe('sk-secret-from-file')
    expect(config.secrets.providerKeys.get('mistral')).toBe('sk-secret-from-file')
    expect(JSON.stringify(config.settings)).not.toContain('sk-secret-from-file')
  })
})
