import type { NewApiKeyBody, OrganisationBody } from '../../src/contract/operator.ts'
import type { ApiClient } from '../api-client.ts'
import { type CliCommand, assertConfirmed, collect, confirm, givenFields, parseWhole } from '../define.ts'
import { findOrganisationId } from '../find-organisation.ts'
import type { Output } from '../output.ts'
import { defaultLimit, loadItems } from '../paging.ts'
import { type OrganisationOptions, printOrganisation, toBody, withFields } from './organisation-fields.ts'

/** `portico org …` and `portico key …` */
export function addOrganisationCommands(program: CliCommand): void {
  const org = program
    .command('org')
    .alias('organisation')
    .description('Organisations: plan, budget, enablement, opt-in.')
  addCreate(org)
  addReads(org)
  addUpdate(org)
  addSwitches(org)
  addWebhook(org)

  const key = program.command('key').description('The one API key of an organisation.')
  key
    .command('rotate <organisation>')
    .alias('create')
    .description(
      'Create the API key, which is shown only once. The current key, if there is one, stops working at once.',
    )
    .option('--yes', 'replace a key without a prompt')
    .examples('portico key rotate Acme', 'portico key rotate Acme --yes --json | jq -r .key > key.txt')
    .run(async ({ output, operator, process }, options: { yes?: boolean }, reference: string) => {
      const client = operator()
      const id = await findOrganisationId(client, reference)
      const { name, apiKey } = await client.get<OrganisationBody>(`/api/organisations/${id}`)
      if (apiKey !== null) {
        const what = `The key of ${name} that ends in ${apiKey.lastFour} stops working at once on all instances.`
        await confirm(process, options.yes, what)
      }
      const made = await createKey(client, id)
      output.result(made, () => printKey(output, made))
    })
}

function addCreate(org: CliCommand) {
  withFields(org.command('create <name>'))
    .description('Create an organisation with its API key, which is shown only once.')
    .option('--enable', 'enable the gateway (operator)')
    .option('--opt-in', 'opt in to the gateway (team administrator)')
    .option('--no-key', 'create no API key')
    .examples(
      'portico org create Acme --plan enterprise --budget 50 --enable --opt-in',
      'portico org create Trial --no-key',
    )
    .run(
      async (
        { output, operator },
        options: OrganisationOptions & { enable?: boolean; optIn?: boolean; key: boolean },
        name: string,
      ) => {
        const client = operator()
        const body = { ...toBody(options), name, ...(options.enable ? { gatewayEnabled: true } : {}) }
        let organisation = await client.send<OrganisationBody>('POST', '/api/organisations', body)
        if (options.optIn) organisation = await setOptIn(client, organisation.id, true)
        const apiKey = options.key ? await createKey(client, organisation.id) : null
        if (apiKey) organisation = await client.get<OrganisationBody>(`/api/organisations/${organisation.id}`)
        output.result({ organisation, apiKey }, () => {
          printOrganisation(output, organisation)
          if (apiKey) printKey(output, apiKey)
        })
      },
    )
}

function addReads(org: CliCommand) {
  org
    .command('list')
    .description('List organisations, newest first.')
    .option('--search <text>', 'part of the name')
    .option('--limit <count>', 'maximum number of items', parseWhole, defaultLimit)
    .examples('portico org list', 'portico org list --search acme --json')
    .run(async ({ output, operator }, options: { search?: string; limit: number }) => {
      const query = options.search === undefined ? '' : `?search=${encodeURIComponent(options.search)}`
      const page = await loadItems<OrganisationBody>(operator(), `/api/organisations${query}`, options.limit)
      output.result(page, () => {
        output.list(
          page.items,
          {
            ID: 'id',
            NAME: 'name',
            PLAN: 'plan',
            SUBSCRIBED: ({ subscription }) => subscription.active,
            ENABLED: 'gatewayEnabled',
            'OPTED IN': 'gatewayOptIn',
            'BUDGET USD': 'monthlyBudgetUsd',
            'MARKUP %': 'markupPercent',
          },
          'There is no organisation. Create one with: portico org create NAME',
        )
        if (page.items.length < page.total) output.note(`${page.items.length} of ${page.total}; --limit shows more.`)
      })
    })
  org
    .command('show <organisation>')
    .description('Show an organisation, by id or exact name.')
    .examples('portico org show Acme')
    .run(async ({ output, operator }, _options: object, reference: string) => {
      const client = operator()
      const id = await findOrganisationId(client, reference)
      const organisation = await client.get<OrganisationBody>(`/api/organisations/${id}`)
      output.result(organisation, () => printOrganisation(output, organisation))
    })
}

function addUpdate(org: CliCommand) {
  withFields(org.command('update <organisation>'))
    .description('Change the given fields of an organisation.')
    .option('--name <name>', 'new name')
    .option('--disable-model <id>', 'disable a model for it; repeatable', collect)
    .option('--enable-model <id>', 'enable a model again; repeatable', collect)
    .examples(
      'portico org update Acme --budget 200 --markup 12.5',
      'portico org update Acme --subscription cancelled --ends-at 2026-12-31T23:00:00Z',
      'portico org update Acme --disable-model gpt-5 --enable-model gpt-5-mini',
    )
    .run(
      async (
        { output, operator },
        options: OrganisationOptions & { disableModel?: string[]; enableModel?: string[] },
        reference: string,
      ) => {
        const client = operator()
        const id = await findOrganisationId(client, reference)
        const disabledModels = await changeDisabledModels(client, id, options)
        const fields = { ...toBody(options), name: options.name, disabledModels }
        const body = givenFields(fields, 'Give an option such as --budget 50.')
        const organisation = await client.send<OrganisationBody>('PATCH', `/api/organisations/${id}`, body)
        output.result(organisation, () => printOrganisation(output, organisation))
      },
    )
  org
    .command('remove <organisation>')
    .description('Remove an organisation that has no Spaces. Its usage records stay.')
    .option('--yes', 'confirm (required)')
    .examples('portico org remove Acme --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, reference: string) => {
      const client = operator()
      const id = await findOrganisationId(client, reference)
      assertConfirmed(options.yes, `This removes organisation ${id} and its API key permanently.`)
      await client.send('DELETE', `/api/organisations/${id}`)
      output.result({ removed: id }, () => output.line(`Removed organisation ${id}.`))
    })
}

function addSwitches(org: CliCommand) {
  const switches = [
    ['enable', 'Enable the gateway (operator).', enable(true)],
    ['disable', 'Disable the gateway (operator): the next gateway request is a 403.', enable(false)],
    ['opt-in', 'Opt in to the gateway (team administrator).', (client, id) => setOptIn(client, id, true)],
    ['opt-out', 'Withdraw the opt-in (team administrator).', (client, id) => setOptIn(client, id, false)],
  ] satisfies [string, string, (client: ApiClient, id: string) => Promise<OrganisationBody>][]
  for (const [name, description, change] of switches) {
    org
      .command(`${name} <organisation>`)
      .description(description)
      .examples(`portico org ${name} Acme`)
      .run(async ({ output, operator }, _options: object, reference: string) => {
        const client = operator()
        const organisation = await change(client, await findOrganisationId(client, reference))
        output.result(organisation, () => printOrganisation(output, organisation))
      })
  }
}

function addWebhook(org: CliCommand) {
  org
    .command('webhook <organisation> [url]')
    .description('Set the address that receives budget thresholds. The signing secret is shown only once.')
    .option('--remove', 'remove the webhook')
    .examples('portico org webhook Acme https://hooks.example/budget', 'portico org webhook Acme --remove')
    .run(async ({ output, operator }, options: { remove?: boolean }, reference: string, url: string | undefined) => {
      const client = operator()
      const path = `/api/organisations/${await findOrganisationId(client, reference)}/webhook`
      if (options.remove) {
        await client.send('DELETE', path)
        return output.result({ removed: true }, () => output.line('Removed the webhook.'))
      }
      const { url: given } = givenFields({ url }, 'Give the address, or --remove.')
      const webhook = await client.send<{ url: string; secret: string }>('PUT', path, { url: given })
      output.result(webhook, () =>
        output.fields([
          ['url', webhook.url],
          ['secret (shown only once)', webhook.secret],
        ]),
      )
    })
}

function enable(gatewayEnabled: boolean) {
  return (client: ApiClient, id: string) =>
    client.send<OrganisationBody>('PATCH', `/api/organisations/${id}`, { gatewayEnabled })
}

function setOptIn(client: ApiClient, id: string, optIn: boolean): Promise<OrganisationBody> {
  return client.send<OrganisationBody>('PUT', `/api/organisations/${id}/opt-in`, { optIn })
}

function createKey(client: ApiClient, id: string): Promise<NewApiKeyBody> {
  return client.send<NewApiKeyBody>('POST', `/api/organisations/${id}/api-key`)
}

async function changeDisabledModels(
  client: ApiClient,
  id: string,
  { disableModel, enableModel }: { disableModel?: string[]; enableModel?: string[] },
): Promise<string[] | undefined> {
  if (!disableModel && !enableModel) return undefined
  const { disabledModels } = await client.get<OrganisationBody>(`/api/organisations/${id}`)
  const enabled = new Set(enableModel)
  return [...disabledModels.filter((model) => !enabled.has(model)), ...(disableModel ?? [])]
}

function printKey(output: Output, { key }: NewApiKeyBody) {
  output.line()
  output.line('The API key, shown only once:')
  output.line(`export PORTICO_API_KEY=${key}`)
}
