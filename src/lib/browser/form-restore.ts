/**
 * What was typed into a form that was not sent yet, for a phone that lets the page go while its person picks a picture. Of
 * this tab alone, and never a password.
 */
const fields = { register: ["displayName", "phoneNumber"], login: ["phoneNumber"] } as const;
export type TypedForm = keyof typeof fields;

const keyOf = (name: TypedForm): string => `typed-${name}`;

const findInput = (form: HTMLFormElement, field: string) => form.querySelector<HTMLInputElement>(`#${field}`);

export const keepTyped = (name: TypedForm, form: HTMLFormElement): void => {
  const typed = new URLSearchParams(fields[name].map((field) => [field, findInput(form, field)?.value ?? ""]));
  try {
    sessionStorage.setItem(keyOf(name), `${typed}`);
  } catch {
    // Storage is full or forbidden: what was typed lives as long as the page.
  }
};

/**
 * Runs before the first paint: what is typed before the script arrives is kept as well. A field that stands empty until its
 * text is put back takes nothing away.
 */
export const typedScript = (name: TypedForm): string => {
  const key = `sessionStorage["${keyOf(name)}"]`;
  return (
    `addEventListener("input",()=>{try{const t=new URLSearchParams(${key}||"");` +
    `for(const f of ${JSON.stringify(fields[name])}){const v=document.getElementById(f).value;v&&t.set(f,v)}` +
    `${key}=t}catch{}});`
  );
};

/** What was typed since stays. */
export const putBackTyped = (name: TypedForm, form: HTMLFormElement): void => {
  try {
    const typed = new URLSearchParams(sessionStorage.getItem(keyOf(name)) ?? "");
    for (const field of fields[name]) {
      const input = findInput(form, field);
      if (input) input.value ||= typed.get(field) ?? "";
    }
  } catch {
    // Storage is forbidden: nothing is there.
  }
};

/** Somebody is signed in. */
export const forgetTyped = (): void => {
  try {
    for (const name of ["register", "login"] as const) sessionStorage.removeItem(keyOf(name));
  } catch {
    // Storage is forbidden: nothing is there.
  }
};
