import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startPortico } from '../harness/portico.ts'

/** The alert rules and the dashboard of deploy/, against the metrics of a running service, and in Prometheus's own test of rules. */

interface Rule {
  alert: string
  expr: string
  annotations: { summary: string; action: string }
}
interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}

const folder = path.join(import.meta.dirname, '../../deploy')
const alertFile = path.join(folder, 'prometheus-alerts.yaml')
const { groups } = parse(readFileSync(alertFile, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync(path.join(folder, 'grafana-dashboard.json'), 'utf8')) as Dashboard
const shown = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

test('every metric of alerts and dashboard exists', async () => {
  await using portico = await startPortico()
  const text = await (await fetch(portico.metricsUrl)).text()
  const existing = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const named = [...rules, ...shown].flatMap(({ expr }) => expr.match(/\bportico_\w+/g) ?? [])
  expect(named.length).toBeGreaterThan(20)
  const isKnown = (name: string) => existing.has(name) || existing.has(name.replace(/_bucket$/, ''))
  expect([...new Set(named)].filter((name) => !isKnown(name))).toEqual([])
})

const promtool = '/usr/bin/promtool'
const isInstalled = existsSync(promtool)
const suite = isInstalled ? 'Prometheus' : 'Prometheus (skipped: promtool is not installed)'

describe.skipIf(!isInstalled)(suite, () => {
  let work: string
  beforeAll(() => {
    work = mkdtempSync(path.join(os.tmpdir(), 'portico-rules-'))
  })
  afterAll(() => rmSync(work, { recursive: true }))

  /** Runs promtool on a file with this content; YAML contains JSON. Throws with its output. */
  function check(command: 'check' | 'test', content: object): string {
    const file = path.join(work, `${command}.yaml`)
    writeFileSync(file, JSON.stringify(content))
    return execFileSync(promtool, [command, 'rules', file], { encoding: 'utf8', stdio: 'pipe' })
  }

  test('accepts every query of the dashboard', () => {
    const recorded = shown.map(({ expr }, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }))
    expect(check('check', { groups: [{ name: 'dashboard', rules: recorded }] })).toContain(
      `SUCCESS: ${recorded.length} rules found`,
    )
  })

  /** For each alert: series that raise it and series that must not, a value each minute, and the labels of the alert. */
  const cases: Record<string, { raise: Record<string, string>; calm: Record<string, string>; labels: object }> = {
    PorticoDown: {
      raise: { 'up{job="portico",instance="a"}': '0x60' },
      calm: { 'up{job="portico",instance="a"}': '1x60', 'up{job="other",instance="a"}': '0x60' },
      labels: { job: 'portico', instance: 'a', severity: 'critical' },
    },
    PorticoServerErrors: {
      raise: {
        'portico_http_requests_total{instance="a",status="200"}': '0+90x60',
        'portico_http_requests_total{instance="a",status="502"}': '0+10x60',
      },
      calm: {
        'portico_http_requests_total{instance="a",status="200"}': '0+97x60',
        'portico_http_requests_total{instance="a",status="500"}': '0+3x60',
        'portico_http_requests_total{instance="a",status="404"}': '0+50x60',
      },
      labels: { instance: 'a', severity: 'critical' },
    },
    PorticoDeploymentNotCalled: {
      raise: { 'portico_circuit_state{instance="a",deployment="d"}': '2x60' },
      calm: { 'portico_circuit_state{instance="a",deployment="d"}': '1x60' },
      labels: { deployment: 'd', severity: 'warning' },
    },
    PorticoProviderAccount: {
      raise: { 'portico_provider_attempts_total{instance="a",deployment="d",outcome="quota"}': '0+1x60' },
      calm: {
        'portico_provider_attempts_total{instance="a",deployment="d",outcome="quota"}': '7x60',
        'portico_provider_attempts_total{instance="a",deployment="d",outcome="answered"}': '0+1x60',
      },
      labels: { deployment: 'd', severity: 'warning' },
    },
    PorticoStatedCosts: {
      raise: { 'portico_stated_costs_total{instance="a",deployment="d",result="above"}': '0+1x60' },
      calm: {
        'portico_stated_costs_total{instance="a",deployment="d",result="above"}': '7x60',
        'portico_stated_costs_total{instance="a",deployment="d",result="equal"}': '0+1x60',
      },
      labels: { deployment: 'd', severity: 'warning' },
    },
    PorticoEventLoopBlocked: {
      raise: { 'portico_nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.4x60' },
      calm: { 'portico_nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.1x60' },
      labels: { instance: 'a', severity: 'warning' },
    },
    PorticoOverloaded: {
      raise: { 'portico_overload_refusals_total{instance="a",reason="memory"}': '0+1x60' },
      calm: {
        'portico_overload_refusals_total{instance="a",reason="share"}': '0+1x60',
        'portico_overload_refusals_total{instance="a",reason="running"}': '7x60',
        'portico_http_connections_refused_total{instance="a"}': '7x60',
      },
      labels: { instance: 'a', severity: 'warning' },
    },
    PorticoJobsWait: {
      raise: { 'portico_jobs{instance="a",kind="ingest",state="ready"}': '200+1x60' },
      calm: {
        'portico_jobs{instance="a",kind="ingest",state="ready"}': '900-10x60',
        'portico_jobs{instance="a",kind="ingest",state="delayed"}': '900x60',
      },
      labels: { kind: 'ingest', severity: 'warning' },
    },
    PorticoNoWorker: {
      raise: { 'portico_instances{role="all"}': '0x60', 'portico_instances{role="worker"}': '1x30 0x30' },
      calm: { 'portico_instances{role="all"}': '0x60', 'portico_instances{role="worker"}': '1x60' },
      labels: { severity: 'critical' },
    },
    PorticoDocumentsFailInternally: {
      raise: { 'portico_documents_processed_total{status="failed",code="internal_error"}': '_x50 1x10' },
      calm: {
        'portico_documents_processed_total{status="failed",code="unreadable"}': '0+1x60',
        'portico_documents_processed_total{status="failed",code="internal_error"}': '1x60',
      },
      labels: { severity: 'warning' },
    },
    PorticoCostWrittenOff: {
      raise: { portico_written_off_usd_total: '0+0.1x60' },
      calm: { portico_written_off_usd_total: '0+0.001x60' },
      labels: { severity: 'warning' },
    },
    PorticoGoldenQuestionsWorse: {
      raise: { 'portico_golden_runs_total{trigger="schedule",outcome="worse"}': '_x50 1x10' },
      calm: {
        'portico_golden_runs_total{trigger="schedule",outcome="completed"}': '0+1x60',
        'portico_golden_runs_total{trigger="manual",outcome="worse"}': '0+1x60',
      },
      labels: { severity: 'warning' },
    },
    PorticoRerankerFails: {
      raise: {
        'portico_reranks_total{outcome="timeout"}': '0+6x60',
        'portico_reranks_total{outcome="reranked"}': '0+4x60',
      },
      calm: {
        'portico_reranks_total{outcome="skipped"}': '0+6x60',
        'portico_reranks_total{outcome="reranked"}': '0+4x60',
      },
      labels: { severity: 'warning' },
    },
  }

  test('has a case for every alert', () => {
    expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert))
  })

  test.each(Object.entries(cases))('%s is raised, and only when it should be', (alert, { raise, calm, labels }) => {
    const series = (given: Record<string, string>) =>
      Object.entries(given).map(([name, values]) => ({ series: name, values }))
    const expectAlerts = (given: Record<string, string>, expected: object[]) => ({
      interval: '1m',
      input_series: series(given),
      alert_rule_test: [{ eval_time: '1h', alertname: alert, exp_alerts: expected }],
    })
    const run = (one: object) => check('test', { rule_files: [alertFile], evaluation_interval: '1m', tests: [one] })
    expect(run(expectAlerts(calm, []))).toContain('SUCCESS')
    // promtool compares the annotations too; their text is in the message of the failure that it must be.
    const failure = (() => {
      try {
        return run(expectAlerts(raise, []))
      } catch (error) {
        return String((error as { stdout?: string }).stdout) + String((error as { stderr?: string }).stderr)
      }
    })()
    expect(failure).toContain('FAILED')
    for (const [name, value] of Object.entries({ alertname: alert, ...labels }))
      expect(failure).toContain(`${name}="${value}"`)
    expect(failure).not.toMatch(/error calling|<no value>/)
  })
})
