import type { ModelView, TimelinePrice } from '@contract/console-models.ts'
import { ActionIcon, Button, Code, Group, Stack, Table, Text, Title, Tooltip } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { deleteJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { Facts } from '../../ui/facts.tsx'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'
import { openConfirm } from '../../ui/confirm.tsx'
import { AnchorLink } from '../../ui/link.tsx'
import { TableFrame } from '../../ui/table-frame.tsx'
import { HostingBadge, SourceBadge, StateBadge } from './badges.tsx'
import { Tag } from './tag.tsx'
import { toolKinds } from './tool-kinds.ts'
import { useCatalogueChange } from './use-catalogue.ts'

const AddPriceModal = lazyPart(() => import('./add-price.tsx'), 'AddPriceModal')

export type PricedDeployment = ModelView['deploymentsList'][number]

/** A deployment of a model with its prices, newest first. */
export function ModelDeployment({ deployment }: { deployment: PricedDeployment }) {
  const { t } = useTranslation('models')
  const [isAdding, setAdding] = useState(false)
  return (
    <Stack component="article" gap="sm" aria-label={deployment.id}>
      <Group justify="space-between" gap="sm">
        <Group gap="xs">
          <Title order={3} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            <AnchorLink inherit to="/operator/deployments" search={{ search: deployment.id, open: deployment.id }}>
              {deployment.id}
            </AnchorLink>
          </Title>
          <StateBadge state={deployment.state} />
          <HostingBadge hosting={deployment.hosting} side={deployment.side} />
          <SourceBadge source={deployment.declaredIn} isOverridden={deployment.isOverridden} />
        </Group>
        <Button variant="default" onClick={() => setAdding(true)}>
          {t('price.add')}
        </Button>
      </Group>
      {deployment.problem && (
        <Text size="sm" c="var(--mantine-color-error)">
          {deployment.problem}
        </Text>
      )}
      <Traits deployment={deployment} />
      <PriceTimeline deployment={deployment} />
      <OnceOpened opened={isAdding}>
        <AddPriceModal opened={isAdding} onClose={() => setAdding(false)} deployment={deployment} />
      </OnceOpened>
    </Stack>
  )
}

/** What the model accepts here, where it differs from what every model accepts. */
function Traits({ deployment }: { deployment: PricedDeployment }) {
  const { t } = useTranslation('models')
  const { acceptsTemperature, reasoning, traits, wireId } = deployment
  const facts = [
    reasoning ? t('trait.reasoning') : undefined,
    acceptsTemperature ? undefined : t('trait.noTemperature'),
    traits.tools === false ? t('trait.noTools') : undefined,
    traits.refuses?.length ? t('trait.refuses', { fields: traits.refuses.join(', ') }) : undefined,
  ].filter((fact) => fact !== undefined)
  return (
    <Facts
      items={[
        { label: t('deployments.wireId'), value: <Code>{wireId}</Code> },
        { label: t('traits'), value: facts.length === 0 ? t('trait.none') : facts.join(' · ') },
      ]}
      columns={{ sm: 2 }}
    />
  )
}

const phaseColors = { past: 'gray', current: 'teal', future: 'blue' }

function PriceTimeline({ deployment }: { deployment: PricedDeployment }) {
  const { t } = useTranslation('models')
  const { prices, snapshotPrice } = deployment
  const label = t('price.timeline', { id: deployment.id })
  if (prices.length === 0 && !snapshotPrice) return <Dimmed>{t('price.none')}</Dimmed>
  return (
    <TableFrame label={label} minimumWidth={720} spacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('price.phase')}</Table.Th>
          <Table.Th>{t('price.validity')}</Table.Th>
          <Table.Th>{t('price.inputMillion')}</Table.Th>
          <Table.Th>{t('price.outputMillion')}</Table.Th>
          <Table.Th>{t('price.cache')}</Table.Th>
          <Table.Th>{t('price.source')}</Table.Th>
          <Table.Th aria-label={t('actions')} />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {prices.map((price) => (
          <PriceRow key={`${price.validFrom} ${price.source}`} price={price} deploymentId={deployment.id} />
        ))}
        {snapshotPrice && <SnapshotRow deployment={deployment} snapshotPrice={snapshotPrice} />}
      </Table.Tbody>
    </TableFrame>
  )
}

function PriceRow({ price, deploymentId }: { price: TimelinePrice; deploymentId: string }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  return (
    <Table.Tr>
      <Table.Td>
        <Tag color={phaseColors[price.phase]}>{t(`phase.${price.phase}`)}</Tag>
      </Table.Td>
      <Table.Td>
        <Validity price={price} />
      </Table.Td>
      <PriceCells price={price} />
      <Table.Td>
        <Text size="sm">{t(`priceSource.${price.sourceKind}`)}</Text>
        <Dimmed size="xs">
          {price.contextSteps
            .map(({ abovePromptTokens, input, output }) =>
              t('price.step', {
                tokens: format.compact(abovePromptTokens),
                input: format.money(input, { exact: true }),
                output: format.money(output, { exact: true }),
              }),
            )
            .concat(
              toolKinds.flatMap((kind) => {
                const usd = price.perThousandUses?.[kind]
                if (usd === undefined) return []
                return t('price.perThousand', {
                  tool: t(`price.tools.${kind}`),
                  price: format.money(usd, { exact: true }),
                })
              }),
            )
            .join(' · ')}
        </Dimmed>
      </Table.Td>
      <Table.Td>
        {price.id !== null && <DeletePrice price={price} id={price.id} deploymentId={deploymentId} />}
      </Table.Td>
    </Table.Tr>
  )
}

function Validity({ price: { validFrom, validTo } }: { price: TimelinePrice }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const from = validFrom === null ? t('price.always') : format.dateTime(validFrom)
  return (
    <Text size="sm">
      {validTo === null ? t('price.from', { from }) : t('price.fromTo', { from, to: format.dateTime(validTo) })}
    </Text>
  )
}

function PriceCells({
  price,
}: {
  price: { input: string; output: string; cacheRead?: string | undefined; cacheWrite?: string | undefined }
}) {
  const format = useFormat()
  const usd = (value: string | undefined) => (value === undefined ? '–' : format.money(value, { exact: true }))
  return (
    <>
      <Table.Td>{usd(price.input)}</Table.Td>
      <Table.Td>{usd(price.output)}</Table.Td>
      <Table.Td>
        {usd(price.cacheRead)} / {usd(price.cacheWrite)}
      </Table.Td>
    </>
  )
}

/** The price list's price today next to the price in force. */
function SnapshotRow(props: {
  deployment: PricedDeployment
  snapshotPrice: NonNullable<PricedDeployment['snapshotPrice']>
}) {
  const { deployment, snapshotPrice } = props
  const { t } = useTranslation('models')
  const format = useFormat()
  const { price } = deployment
  const isEqual = price?.input === snapshotPrice.input && price.output === snapshotPrice.output
  return (
    <Table.Tr>
      <Table.Td>
        <Tag>{t('price.list')}</Tag>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{format.day(snapshotPrice.date)}</Text>
      </Table.Td>
      <PriceCells price={snapshotPrice} />
      <Table.Td colSpan={2}>
        <Text size="sm" c={isEqual ? 'dimmed' : undefined}>
          {isEqual || !price
            ? t('price.listName', { list: snapshotPrice.list })
            : t('price.difference', {
                input: difference(format, price.input, snapshotPrice.input),
                output: difference(format, price.output, snapshotPrice.output),
              })}
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}

function difference(format: ReturnType<typeof useFormat>, price: string, listed: string): string {
  if (price === listed || Number(listed) === 0) return format.percent(0)
  const share = Number(price) / Number(listed) - 1
  return `${share > 0 ? '+' : ''}${format.percent(share)}`
}

function DeletePrice({ price, id, deploymentId }: { price: TimelinePrice; id: string; deploymentId: string }) {
  const { t } = useTranslation('models')
  const remove = useCatalogueChange(
    () => deleteJson(`/api/deployments/${encodeURIComponent(deploymentId)}/prices/${id}`),
    () => t('price.deleted'),
  )
  const label = t('price.delete')
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={label}
        loading={remove.isPending}
        onClick={() =>
          openConfirm({
            title: t('price.deleteTitle', { id: deploymentId }),
            text: price.phase === 'future' ? t('price.deleteFuture') : t('price.deleteCurrent'),
            confirm: t('remove'),
            onConfirm: () => remove.mutate(undefined),
          })
        }
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
