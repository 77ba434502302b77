import type { OfferedIdView, TokenPricesView } from '@contract/console-developer-tools.ts'
import { Badge, Code, Group, Stack, Switch, Tooltip, UnstyledButton } from '@mantine/core'
import type { TFunction } from 'i18next'
import { organisationRoute } from '../../app/layout-routes.tsx'
import type { Format } from '../../i18n/format.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { column, type DataColumn, textColumn } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import type { ModelRow, ModelSwitch } from './model-rows.ts'

type Translate = TFunction<'devtools'>

/** Prices are per million tokens, with the markup of the organisation. */
export function modelColumns(t: Translate, format: Format, change: ModelSwitch): DataColumn<ModelRow>[] {
  const price = (name: 'input' | 'cacheRead' | 'output') =>
    column<ModelRow>(
      name,
      t(`models.${name}`),
      ({ side }) => <Price side={side} name={name} t={t} format={format} />,
      ({ side }) => Number(side.prices[name]),
    )
  return [
    column(
      'id',
      t('models.id'),
      (row) => <ModelId row={row} t={t} format={format} />,
      ({ side }) => side.id,
    ),
    textColumn('owner', t('models.owner'), ({ model }) => model.ownedBy),
    column(
      'context',
      t('models.context'),
      ({ model }) => format.compact(model.contextTokens),
      ({ model }) => model.contextTokens,
    ),
    price('input'),
    price('cacheRead'),
    price('output'),
    column(
      'enabled',
      t('models.enabled'),
      (row) => <ModelSwitchCell row={row} change={change} t={t} />,
      ({ model }) => Number(model.enabled),
    ),
  ]
}

function ModelId({ row: { model, side }, t, format }: { row: ModelRow; t: Translate; format: Format }) {
  const { organisationId } = organisationRoute.useParams()
  return (
    <Stack gap={2}>
      <Group gap={4} wrap="nowrap">
        {model.enabled ? (
          <AnchorLink
            ff="monospace"
            size="sm"
            to="/organisations/$organisationId/playground"
            params={{ organisationId }}
            search={{ model: side.id }}
          >
            {side.id}
          </AnchorLink>
        ) : (
          <Dimmed ff="monospace">{side.id}</Dimmed>
        )}
        <CopyButton value={side.id} label={t('models.copyId', { id: side.id })} />
      </Group>
      <Group gap={6}>
        {model.eu && model.eu !== side && (
          <Tooltip label={t('models.euTooltip')}>
            <Code fz="xs">{model.eu.id}</Code>
          </Tooltip>
        )}
        {model.tier === 'base' && (
          <Tooltip label={t('models.baseTooltip')} multiline maw={320}>
            <Badge size="xs" variant="light" color="gray">
              {t('models.base')}
            </Badge>
          </Tooltip>
        )}
        {model.retiresAt && (
          <Badge size="xs" variant="light" color="orange">
            {t('models.retires', { date: format.date(model.retiresAt) })}
          </Badge>
        )}
      </Group>
    </Stack>
  )
}

interface PriceProps {
  side: OfferedIdView
  name: keyof TokenPricesView
  t: Translate
  format: Format
}

function Price({ side: { prices, lowestPrices, longPrompts }, name, t, format }: PriceProps) {
  const money = (usd: string) => format.money(usd, { exact: true })
  const notes = [
    ...(lowestPrices && lowestPrices[name] !== prices[name]
      ? [t('models.from', { price: money(lowestPrices[name]) })]
      : []),
    ...longPrompts.map((step) =>
      t('models.longPrompts', { tokens: format.compact(step.abovePromptTokens), price: money(step[name]) }),
    ),
  ]
  if (notes.length === 0) return money(prices[name])
  return (
    <Tooltip label={notes.join('\n')} multiline style={{ whiteSpace: 'pre-line' }}>
      <UnstyledButton fz="sm" td="underline dotted" aria-label={[money(prices[name]), ...notes].join('. ')}>
        {money(prices[name])}
      </UnstyledButton>
    </Tooltip>
  )
}

function ModelSwitchCell({ row: { model }, change, t }: { row: ModelRow; change: ModelSwitch; t: Translate }) {
  return (
    <Switch
      size="sm"
      aria-label={t('models.switch', { id: model.id })}
      checked={model.enabled}
      onChange={(event) => change(event.currentTarget.checked ? { enable: [model.id] } : { disable: [model.id] })}
    />
  )
}
