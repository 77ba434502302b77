import { Alert, Button, Group, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { postJson } from '../../api/client.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { isPrice, PriceInput } from './price-input.tsx'
import { useCatalogueChange } from './use-catalogue.ts'

const empty = { wireId: '', model: '', input: '', output: '' }
type Name = keyof typeof empty
const apiFields = ['deployments.0.model', 'deployments.0.wireId']

/** Adds one deployment by its name at the provider, for formats without a listing such as Azure. */
export function AddByName({ providerId }: { providerId: string }) {
  const { t } = useTranslation('models')
  const [isOpen, setOpen] = useState(false)
  if (!isOpen)
    return (
      <Button variant="subtle" onClick={() => setOpen(true)} w="fit-content">
        {t('byName.open')}
      </Button>
    )
  return <AddForm providerId={providerId} onClose={() => setOpen(false)} />
}

function AddForm({ providerId, onClose }: { providerId: string; onClose: () => void }) {
  const { t } = useTranslation('models')
  const [values, setValues] = useState(empty)
  const { errors, check, show } = useFieldErrors(apiFields, { other: 'form' })
  const set = (name: Name, value: string) => setValues((before) => ({ ...before, [name]: value }))
  const add = useCatalogueChange(
    () =>
      postJson(`/api/providers/${encodeURIComponent(providerId)}/deployments`, { deployments: [toDeployment(values)] }),
    () => t('discover.added', { count: 1 }),
    { hasErrorPlace: true },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const price = (text: string) => (text.trim() === '' || isPrice(text) ? undefined : t('price.wrong'))
    const wireId = values.wireId.trim() === '' ? t('required') : undefined
    if (!check({ wireId, input: price(values.input), output: price(values.output) })) return
    add.mutate(undefined, {
      onSuccess: onClose,
      onError: show,
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Dimmed>{t('byName.text')}</Dimmed>
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label={t('deployments.wireId')}
            value={values.wireId}
            onChange={(event) => set('wireId', event.currentTarget.value)}
            error={errors['wireId'] ?? errors['deployments.0.wireId']}
            required
          />
          <TextInput
            label={t('discover.clientId')}
            placeholder={values.wireId}
            value={values.model}
            onChange={(event) => set('model', event.currentTarget.value)}
            error={errors['deployments.0.model']}
          />
          <PriceInput
            label={t('price.input')}
            value={values.input}
            onChange={(value) => set('input', value)}
            error={errors['input']}
          />
          <PriceInput
            label={t('price.output')}
            value={values.output}
            onChange={(value) => set('output', value)}
            error={errors['output']}
          />
        </SimpleGrid>
        {errors['form'] && <Alert color="red">{errors['form']}</Alert>}
        <Group>
          <Button type="submit" variant="default" loading={add.isPending}>
            {t('byName.add')}
          </Button>
          <Button variant="subtle" onClick={onClose}>
            {t('cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Without a price the price list applies, if it has the model. */
function toDeployment(values: typeof empty) {
  const [wireId, model, input, output] = [values.wireId, values.model, values.input, values.output].map((text) =>
    text.trim(),
  ) as [string, string, string, string]
  return {
    wireId,
    ...(model !== '' && { model }),
    ...(input !== '' && { prices: { input, ...(output !== '' && { output }) } }),
  }
}
