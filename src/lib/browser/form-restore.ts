/**
 * What was typed into a form that was not sent yet, for a phone that lets the page go while its person picks a picture. Of
 * this tab alone, and never a password.
 */
const restoredFields = { register: ["displayName", "phoneNumber"], login: ["phoneNumber"] } as const;
export type RestorableForm = keyof typeof restoredFields;

const toStorageKey = (name: RestorableForm): string => `typed-${name}`;

const findInput = (form: HTMLFormElement, field: string) => form.querySelector<HTMLInputElement>(`#${field}`);

export const saveFormInput = (name: RestorableForm, form: HTMLFormElement): void => {
  const typed = new URLSearchParams(restoredFields[name].map((field) => [field, findInput(form, field)?.value ?? ""]));
  try {
    sessionStorage.setItem(toStorageKey(name), `${typed}`);
  } catch {
    // Storage is full or forbidden: what was typed lives as long as the page.
  }
};

/**
 * Runs before the first paint: what is typed before the script arrives is kept as well. A field that stands empty until its
 * text is put back takes nothing away.
 */
export const buildFormSaveScript = (name: RestorableForm): string => {
  const key = `sessionStorage["${toStorageKey(name)}"]`;
  return (
    `addEventListener("input",()=>{try{const t=new URLSearchParams(${key}||"");` +
    `for(const f of ${JSON.stringify(restoredFields[name])}){const v=document.getElementById(f).value;v&&t.set(f,v)}` +
    `${key}=t}catch{}});`
  );
};

/** What was typed since stays. */
export const restoreFormInput = (name: RestorableForm, form: HTMLFormElement): void => {
  try {
    const typed = new URLSearchParams(sessionStorage.getItem(toStorageKey(name)) ?? "");
    for (const field of restoredFields[name]) {
      const input = findInput(form, field);
      if (input) input.value ||= typed.get(field) ?? "";
    }
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** Somebody is signed in. */
export const clearFormInput = (): void => {
  try {
    for (const name of ["register", "login"] as const) sessionStorage.removeItem(toStorageKey(name));
  } catch {
    // Storage is forbidden: nothing is there.
  }
};
