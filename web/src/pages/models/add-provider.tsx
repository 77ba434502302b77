import '@mantine/core/styles/Drawer.css'
import type { DiscoveredModels } from '@contract/models.ts'
import { Alert, Anchor, Autocomplete, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError, getJson, postJson, putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { notifyError } from '../../ui/notify.ts'
import { SidePanel } from '../../ui/side-panel.tsx'
import { ListedModels } from './listed-models.tsx'
import { fieldsOf, freeId, type Preset } from './presets.ts'
import { emptyValues, isProviderId, type ProviderValues } from './provider-fields.ts'
import { ProviderFieldInput } from './provider-field-input.tsx'
import { hostings, newProvider } from './provider-form.tsx'
import { Mark, ProviderPicker } from './provider-picker.tsx'
import { Advice } from './test-result.tsx'
import { useCatalogueChange } from './use-catalogue.ts'

// One file for both forms: the second part that shares modules with other pages would load them with every page.
export { ProviderFormDrawer } from './provider-form.tsx'

interface Props {
  /** Ids of the providers that exist. */
  taken: ReadonlySet<string>
  onClose: () => void
  onAdded: (id: string) => void
  /** Opens the complete form. */
  onOther: () => void
}

/** Adds a provider: choose it, enter its key, test it, choose its models. Nothing is stored before the test. */
export function AddProviderDrawer({ opened, ...props }: Props & { opened: boolean }) {
  const { t } = useTranslation('models')
  return (
    <SidePanel opened={opened} onClose={props.onClose} title={t('providerForm.addTitle')} size="lg">
      {opened && <AddProvider {...props} />}
    </SidePanel>
  )
}

function AddProvider(props: Props) {
  const [preset, setPreset] = useState<Preset>()
  if (!preset) return <ProviderPicker onPick={setPreset} onOther={props.onOther} />
  return <PresetForm key={preset.id} preset={preset} onBack={() => setPreset(undefined)} {...props} />
}

function PresetForm({ preset, onBack, ...props }: Props & { preset: Preset; onBack: () => void }) {
  const { t } = useTranslation('models')
  const form = usePresetForm(preset, props)
  const { values, errors, set, probe } = form
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="sm">
          <Mark preset={preset} />
          <Text fw={600}>{preset.name}</Text>
        </Group>
        <Anchor component="button" type="button" size="sm" onClick={onBack}>
          {t('picker.back')}
        </Anchor>
      </Group>
      <form onSubmit={form.submitTest} noValidate>
        <Stack>
          {fieldsOf(preset).map((field) => (
            <ProviderFieldInput key={field.name} field={field} form={form} stored={noStored} />
          ))}
          <Group grow align="start">
            <Autocomplete
              label={t('providerForm.hosting')}
              description={t('picker.hostingText')}
              data={[...hostings]}
              value={values.hosting}
              onChange={(hosting) => set('hosting', hosting)}
              error={errors['hosting']}
              required
            />
            <TextInput
              label={t('providerForm.id')}
              description={t('picker.idText')}
              value={values.id}
              onChange={(event) => set('id', event.currentTarget.value)}
              error={errors['id']}
              required
            />
          </Group>
          {errors['form'] && <Alert color="red">{errors['form']}</Alert>}
          <Group justify="flex-end">
            <Button type="submit" variant={probe.data ? 'default' : 'filled'} loading={probe.isPending}>
              {t('picker.test')}
            </Button>
          </Group>
        </Stack>
      </form>
      <div aria-live="polite">
        {probe.data?.error && <Advice error={probe.data.error} />}
        {form.hasNoListing && <Alert color="gray">{t('picker.noListing')}</Alert>}
      </div>
      {probe.data && !probe.data.error && (
        <ListedModels found={probe.data} chosen={form.chosen} onChange={form.setChosen} />
      )}
      {form.isTested && (
        <Group justify="flex-end">
          <Button onClick={() => form.add.mutate()} loading={form.add.isPending}>
            {t('picker.add', { count: form.chosen.size })}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const noStored: ReadonlySet<string> = new Set()

function usePresetForm(preset: Preset, { taken, onAdded }: Pick<Props, 'taken' | 'onAdded'>) {
  const { t } = useTranslation('models')
  const [values, setValues] = useState<ProviderValues>(() => ({
    ...emptyValues,
    id: freeId(preset, taken),
    hosting: preset.hosting,
  }))
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const fields = fieldsOf(preset)
  const { errors, check, show } = useFieldErrors(['id', 'hosting', ...fields.map(({ name }) => name)], {
    other: 'form',
  })
  const probe = useMutation({
    mutationFn: () => postJson<DiscoveredModels>('/api/providers/probe', toBody(preset, values)),
    onError: (error) => !isNoListing(error) && show(error),
  })
  const add = useCatalogueChange(
    async () => {
      await assertFree(values.id.trim(), t('picker.idTaken'))
      await store(preset, values, chosen)
    },
    () => t('providerForm.saved', { id: values.id.trim() }),
    { hasErrorPlace: true },
  )
  const hasNoListing = isNoListing(probe.error)
  return {
    values,
    errors,
    probe,
    chosen,
    setChosen,
    hasNoListing,
    isTested: hasNoListing || (probe.data !== undefined && probe.data.error === null),
    add: {
      isPending: add.isPending,
      mutate: () => add.mutate(undefined, { onSuccess: () => onAdded(values.id.trim()), onError: show }),
    },
    // What was tested is what is stored.
    set(name: keyof ProviderValues, value: string) {
      setValues((before) => ({ ...before, [name]: value }))
      if (name === 'id') return
      probe.reset()
      setChosen(new Set())
    },
    submitTest(event: FormEvent) {
      event.preventDefault()
      const required = [...fields.filter((field) => field.required).map(({ name }) => name), 'hosting' as const]
      const missing = required.filter((name) => values[name].trim() === '').map((name) => [name, t('required')])
      const id = values.id.trim()
      const wrongId = taken.has(id) ? t('picker.idTaken') : isProviderId(id) ? undefined : t('providerForm.idWrong')
      if (check({ id: wrongId, ...Object.fromEntries(missing) })) probe.mutate()
    },
  }
}

const isNoListing = (error: unknown) => error instanceof ApiError && error.status === 409

function toBody({ format, flavour, baseUrl }: Preset, values: ProviderValues): Record<string, string> {
  const { id: _id, models: _models, ...typed } = values
  const stated = Object.entries({ flavour, baseUrl, ...withoutEmpty(typed) }).filter(([, value]) => value)
  return { format, ...(Object.fromEntries(stated) as Record<string, string>) }
}

const withoutEmpty = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value.trim() ? [[name, value.trim()]] : [])))

/** The list of the page may not have all providers; storing would replace one. */
async function assertFree(id: string, message: string): Promise<void> {
  try {
    await getJson(`/api/providers/${encodeURIComponent(id)}`)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return
    throw error
  }
  throw new ApiError({ status: 409, code: 'conflict', message, param: 'id' })
}

/** The provider offers only the models that were chosen. Once it is stored, its page adds models. */
async function store(preset: Preset, values: ProviderValues, chosen: ReadonlySet<string>): Promise<void> {
  const path = `/api/providers/${encodeURIComponent(values.id.trim())}`
  await putJson(path, { ...toBody(preset, values), models: 'declared' }, ifMatch(newProvider))
  if (chosen.size === 0) return
  const deployments = [...chosen].map((wireId) => ({ wireId }))
  await postJson(`${path}/deployments`, { deployments }).catch(notifyError)
}
