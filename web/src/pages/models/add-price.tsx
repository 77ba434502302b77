import '@mantine/core/styles/NumberInput.css'
import { Alert, NumberInput, SimpleGrid, Stack, Switch, Table, Text, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { useFormat } from '../../i18n/use-format.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { fromLocalInput } from '../../ui/local-time.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import type { PricedDeployment } from './model-deployment.tsx'
import { isPrice, PriceInput } from './price-input.tsx'
import { type ToolKind, toolKinds, toolPrices } from './tool-kinds.ts'
import { useCatalogueChange } from './use-catalogue.ts'

const fields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteHour', 'reasoning'] as const
type Field = (typeof fields)[number]
type Values = Record<Field, string>

interface AddPriceProps {
  deployment: PricedDeployment
  onClose: () => void
}

/** Sets a price of a deployment from now or from a later date on. */
export function AddPriceModal({ opened, ...props }: AddPriceProps & { opened: boolean }) {
  const { t } = useTranslation('models')
  const isNarrow = useMediaQuery('(max-width: 36em)')
  return (
    <Dialog
      opened={opened}
      onClose={props.onClose}
      title={t('price.addTitle', { id: props.deployment.id })}
      size="lg"
      fullScreen={isNarrow}
    >
      {opened && <AddPriceForm {...props} />}
    </Dialog>
  )
}

function AddPriceForm({ deployment, onClose }: AddPriceProps) {
  const { t } = useTranslation('models')
  const form = usePriceForm(deployment, onClose)
  const { values, errors } = form
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack>
        <Dimmed>{t('price.addText')}</Dimmed>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {fields.map((name) => (
            <PriceInput
              key={name}
              label={t(`price.${name}`)}
              value={values[name]}
              onChange={(value) => form.set(name, value)}
              error={errors[name]}
              required={name === 'input' || name === 'output'}
            />
          ))}
        </SimpleGrid>
        {form.tools.length > 0 && <Dimmed>{t('price.toolsText')}</Dimmed>}
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {form.tools.map((kind) => (
            <PriceInput
              key={kind}
              label={t(`price.tools.${kind}`)}
              value={form.uses[kind] ?? ''}
              onChange={(value) => form.setUse(kind, value)}
              error={errors[kind]}
            />
          ))}
        </SimpleGrid>
        <Switch
          label={t('price.later')}
          checked={form.isLater}
          onChange={(event) => form.setLater(event.currentTarget.checked)}
        />
        {form.isLater && (
          <TextInput
            type="datetime-local"
            label={t('price.validFrom')}
            description={t('price.timeZone', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
            value={form.validFrom}
            onChange={(event) => form.setValidFrom(event.currentTarget.value)}
            error={errors['validFrom']}
            required
          />
        )}
        <TypicalCall before={deployment.price} after={values} />
        {errors['form'] && <Alert color="red">{errors['form']}</Alert>}
        <DialogButtons onCancel={onClose} submit={t('price.add')} loading={form.isSaving} />
      </Stack>
    </form>
  )
}

function usePriceForm(deployment: PricedDeployment, onClose: () => void) {
  const { t } = useTranslation('models')
  const { price } = deployment
  const [values, setValues] = useState<Values>({
    input: price?.input ?? '',
    output: price?.output ?? '',
    cacheRead: price?.cacheRead ?? '',
    cacheWrite: price?.cacheWrite ?? '',
    cacheWriteHour: price?.cacheWriteHour ?? '',
    reasoning: price?.reasoning ?? '',
  })
  const [uses, setUses] = useState(() => toolPrices(deployment))
  const tools = toolKinds.filter((kind) => uses[kind] !== undefined)
  const [isLater, setLater] = useState(false)
  const [validFrom, setValidFrom] = useState('')
  const { errors, check, show } = useFieldErrors([...fields, ...toolKinds, 'validFrom'], { other: 'form' })
  const stated = fields.filter((name) => values[name].trim() !== '')
  const priced = tools.flatMap((kind) => (uses[kind]?.trim() ? [[kind, uses[kind].trim()] as const] : []))
  const save = useCatalogueChange(
    () =>
      postJson(`/api/deployments/${encodeURIComponent(deployment.id)}/prices`, {
        ...Object.fromEntries(stated.map((name) => [name, values[name].trim()])),
        ...(priced.length > 0 && { perThousandUses: Object.fromEntries(priced) }),
        ...(isLater && { validFrom: fromLocalInput(validFrom) }),
      }),
    () => t('price.added'),
    { hasErrorPlace: true },
  )
  return {
    values,
    errors,
    isLater,
    setLater,
    validFrom,
    setValidFrom,
    isSaving: save.isPending,
    tools,
    uses,
    setUse: (kind: ToolKind, value: string) => setUses((before) => ({ ...before, [kind]: value })),
    set: (name: Field, value: string) => setValues((before) => ({ ...before, [name]: value })),
    submit(event: FormEvent) {
      event.preventDefault()
      const wrong = fields.map((name) => {
        const isRequired = name === 'input' || name === 'output'
        const isMissing = values[name].trim() === ''
        if (isMissing) return [name, isRequired ? t('required') : undefined] as const
        return [name, isPrice(values[name]) ? undefined : t('price.wrong')] as const
      })
      const wrongUses = priced.map(([kind, usd]) => [kind, isPrice(usd) ? undefined : t('price.wrong')] as const)
      const isPast = isLater && !(new Date(validFrom).getTime() > Date.now())
      if (
        !check({ ...Object.fromEntries([...wrong, ...wrongUses]), validFrom: isPast ? t('price.future') : undefined })
      )
        return
      save.mutate(undefined, { onSuccess: onClose, onError: show })
    },
  }
}

/** What a call of typical size costs at the price in force and at the new one. */
function TypicalCall({ before, after }: { before: PricedDeployment['price']; after: Values }) {
  const { t } = useTranslation('models')
  const format = useFormat()
  const [prompt, setPrompt] = useState<number | string>(2_000)
  const [output, setOutput] = useState<number | string>(500)
  const cost = (prices: { input: string; output: string } | null) =>
    prices && isPrice(prices.input) && isPrice(prices.output)
      ? (Number(prices.input) * Number(prompt) + Number(prices.output) * Number(output)) / 1_000_000
      : null
  const [old, fresh] = [cost(before), cost(after)]
  const money = (usd: number | null) => (usd === null ? '–' : format.money(usd))
  const change = old !== null && fresh !== null && old > 0 ? fresh / old - 1 : null
  return (
    <Stack gap="xs" component="section" aria-label={t('price.typical')}>
      <Text size="sm" fw={600}>
        {t('price.typical')}
      </Text>
      <SimpleGrid cols={2}>
        <NumberInput
          size="xs"
          label={t('price.promptTokens')}
          value={prompt}
          onChange={setPrompt}
          min={0}
          max={10_000_000}
          hideControls
        />
        <NumberInput
          size="xs"
          label={t('price.outputTokens')}
          value={output}
          onChange={setOutput}
          min={0}
          max={10_000_000}
          hideControls
        />
      </SimpleGrid>
      <Table withRowBorders={false} verticalSpacing={2}>
        <Table.Tbody>
          <Table.Tr>
            <Table.Td>{t('price.now')}</Table.Td>
            <Table.Td ta="end">{money(old)}</Table.Td>
          </Table.Tr>
          <Table.Tr>
            <Table.Td>{t('price.new')}</Table.Td>
            <Table.Td ta="end" fw={600}>
              {money(fresh)}
              {change !== null && change !== 0 && (
                <Text span size="xs" c="dimmed">
                  {` (${change > 0 ? '+' : ''}${format.percent(change)})`}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
