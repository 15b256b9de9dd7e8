/** Made by scripts/api-types.ts of the OpenAPI document. */
export interface paths {
    "/users/public/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a public user profile
         * @description The profile of a user, when the user has made it public.
         */
        get: operations["getPublicUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{userId}/achievements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a user's achievements
         * @description All achievements that a user with a public profile unlocked, newest first.
         */
        get: operations["listUserAchievements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/search/companies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search companies by name
         * @description At most 10 companies: the best matches first, larger before smaller.
         */
        get: operations["searchCompanies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/search/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search users by name
         * @description At most 10 users with public profiles: the best matches first, shorter names before longer.
         */
        get: operations["searchUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the service
         * @description Versions, the snapshot that is served, and why the file that was put in its place is not served, if so.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        User: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /**
             * Format: uri
             * @description an absolute URL
             */
            avatar_url: string;
            company: components["schemas"]["CompanyReference"] | null;
            roles: components["schemas"]["Role"][];
            /**
             * Format: date-time
             * @description an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z
             */
            created_at: string;
        };
        Role: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /** @description an integer */
            hierarchy: number;
        };
        CompanyReference: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /** @description a string of 1 to 200 code points that is not blank */
            role: string;
        };
        AchievementEntry: {
            achievement: components["schemas"]["Achievement"];
            /** @description an integer from 0 to 9007199254740991 */
            tier: number;
            /**
             * Format: date-time
             * @description an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z
             */
            unlocked_at: string;
        };
        Achievement: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /** @description a string of valid Unicode */
            description: string;
            /** @description a string of valid Unicode */
            icon: string;
            /** @description a string of valid Unicode */
            type: string;
            /** @description an integer from 0 to 9007199254740991 */
            tier: number;
            /** @description an integer from 0 to 9007199254740991 */
            points: number;
        };
        CompanySearchResult: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /** @description an integer from 0 to 9007199254740991 */
            member_count: number;
        };
        UserSearchResult: {
            /** @description an integer from 1 to 9007199254740991 */
            id: number;
            /** @description a string of 1 to 200 code points that is not blank */
            name: string;
            /**
             * Format: uri
             * @description an absolute URL
             */
            avatar_url: string;
            company: string | null;
        };
        Error: {
            /** @constant */
            success: false;
            error: {
                /** @enum {string} */
                code: "invalid_user_id" | "invalid_query" | "profile_private" | "user_not_found" | "route_not_found" | "method_not_allowed" | "rate_limited" | "internal_error" | "unavailable";
                /** @description a sentence that a person can act on */
                message: string;
                /** @description whole seconds to wait, only with rate_limited */
                retry_after?: number;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The version of the interface */
        "X-API-Version": "v2.1.0";
        /** @description The request's name in the server's log */
        "X-Request-Id": string;
        /** @description No client guesses a type */
        "X-Content-Type-Options": "nosniff";
        /** @description What is about people is nobody's search index */
        "X-Robots-Tag": "noindex";
        /** @description Any page may read every response */
        "Access-Control-Allow-Origin": "*";
        /** @description The headers that a page may read */
        "Access-Control-Expose-Headers": "ETag, RateLimit, RateLimit-Policy, Retry-After, X-API-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";
        /** @description The methods that a page may use */
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS";
        /** @description The headers that a page may send */
        "Access-Control-Allow-Headers": "*";
        /** @description The seconds for which a browser may keep this */
        "Access-Control-Max-Age": "86400";
        /** @description The methods of the path */
        Allow: "GET, HEAD, OPTIONS";
        /** @description Who may store the response and for how long: `no-cache` is to ask again each time with If-None-Match, `no-store` not at all */
        "Cache-Control": string;
        /** @description The validator of this body in this coding, for If-None-Match */
        ETag: string;
        /** @description What else the response depends on */
        Vary: "accept-encoding";
        /** @description The coding of the body, by Accept-Encoding; a short body has none */
        "Content-Encoding": "zstd" | "br" | "gzip";
        /** @description The policy: `"search";q=<requests>;w=<seconds>`. A server without a search limit has no such header. */
        "RateLimit-Policy": string;
        /** @description Where you stand: `"search";r=<left>;t=<seconds until one more is free>` */
        RateLimit: string;
        /** @description Requests in a window */
        "X-RateLimit-Limit": number;
        /** @description Requests left just now */
        "X-RateLimit-Remaining": number;
        /** @description Unix time in seconds at which one more is free */
        "X-RateLimit-Reset": number;
        /** @description Whole seconds to wait; waiting that long is always enough */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getPublicUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id, in plain digits */
                userId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        user: components["schemas"]["User"];
                    };
                };
            };
            /** @description The body that If-None-Match names is still the same */
            304: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_user_id`: The user id must be a whole number from 1 to 9007199254740991, written in plain digits. */
            400: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `profile_private`: This user's profile is private. */
            403: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `user_not_found`: There is no user with this id. */
            404: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: Use GET or HEAD: this API only reads. */
            405: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Allow: components["headers"]["Allow"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The head of the request, its URL included, is over 256 KB. There is no body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `internal_error`: Something went wrong on our side; please report the X-Request-Id of this response. */
            500: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: The data cannot be served at the moment; try again later. */
            503: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listUserAchievements: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id, in plain digits */
                userId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        achievements: components["schemas"]["AchievementEntry"][];
                    };
                };
            };
            /** @description The body that If-None-Match names is still the same */
            304: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_user_id`: The user id must be a whole number from 1 to 9007199254740991, written in plain digits. */
            400: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `profile_private`: This user's profile is private. */
            403: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `user_not_found`: There is no user with this id. */
            404: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: Use GET or HEAD: this API only reads. */
            405: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Allow: components["headers"]["Allow"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The head of the request, its URL included, is over 256 KB. There is no body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `internal_error`: Something went wrong on our side; please report the X-Request-Id of this response. */
            500: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: The data cannot be served at the moment; try again later. */
            503: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    searchCompanies: {
        parameters: {
            query: {
                /** @description What to look for, anywhere in the name; case, accents and the order of words do not matter. It comes exactly once and has at least 2 code points, counted in NFC with white space collapsed to single spaces and trimmed. There is no maximum: what is longer than any name matches nothing. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        companies: components["schemas"]["CompanySearchResult"][];
                    };
                };
            };
            /** @description The body that If-None-Match names is still the same */
            304: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_query`: Give the query parameter q exactly once, in UTF-8, with at least 2 characters. */
            400: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: Use GET or HEAD: this API only reads. */
            405: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Allow: components["headers"]["Allow"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Too many searches from your address; try again after the seconds in retry_after. */
            429: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The head of the request, its URL included, is over 256 KB. There is no body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `internal_error`: Something went wrong on our side; please report the X-Request-Id of this response. */
            500: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: The data cannot be served at the moment; try again later. */
            503: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    searchUsers: {
        parameters: {
            query: {
                /** @description What to look for, anywhere in the name; case, accents and the order of words do not matter. It comes exactly once and has at least 2 code points, counted in NFC with white space collapsed to single spaces and trimmed. There is no maximum: what is longer than any name matches nothing. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "Content-Encoding": components["headers"]["Content-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        users: components["schemas"]["UserSearchResult"][];
                    };
                };
            };
            /** @description The body that If-None-Match names is still the same */
            304: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `invalid_query`: Give the query parameter q exactly once, in UTF-8, with at least 2 characters. */
            400: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `method_not_allowed`: Use GET or HEAD: this API only reads. */
            405: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Allow: components["headers"]["Allow"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Too many searches from your address; try again after the seconds in retry_after. */
            429: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The head of the request, its URL included, is over 256 KB. There is no body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `internal_error`: Something went wrong on our side; please report the X-Request-Id of this response. */
            500: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: The data cannot be served at the moment; try again later. */
            503: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                        /** @description a string of valid Unicode */
                        api_version: string;
                        /** @description a string of valid Unicode */
                        version: string;
                        snapshot: {
                            /**
                             * Format: date-time
                             * @description an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z
                             */
                            built_at: string;
                            /** @description a string of valid Unicode */
                            dataset_sha256: string;
                            counts: {
                                /** @description an integer from 0 to 9007199254740991 */
                                roles: number;
                                /** @description an integer from 0 to 9007199254740991 */
                                achievements: number;
                                /** @description an integer from 0 to 9007199254740991 */
                                companies: number;
                                /** @description an integer from 0 to 9007199254740991 */
                                users: number;
                                /** @description an integer from 0 to 9007199254740991 */
                                public_users: number;
                            };
                        };
                        refused_replacement: string | null;
                        snapshot_source: {
                            /** @description a string of valid Unicode */
                            url: string;
                            /**
                             * Format: date-time
                             * @description an ISO 8601 time in UTC, such as 2024-03-09T17:05:00Z
                             */
                            last_try: string;
                            last_success: string | null;
                            /** @description an integer from 0 to 9007199254740991 */
                            bytes: number;
                            error: string | null;
                        } | null;
                        search_limit: {
                            /** @description a string of valid Unicode */
                            store: string;
                            up: boolean;
                        } | null;
                    };
                };
            };
            /** @description `method_not_allowed`: Use GET or HEAD: this API only reads. */
            405: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Allow: components["headers"]["Allow"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The head of the request, its URL included, is over 256 KB. There is no body. */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `internal_error`: Something went wrong on our side; please report the X-Request-Id of this response. */
            500: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unavailable`: The data cannot be served at the moment; try again later. */
            503: {
                headers: {
                    "X-API-Version": components["headers"]["X-API-Version"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-Content-Type-Options": components["headers"]["X-Content-Type-Options"];
                    "X-Robots-Tag": components["headers"]["X-Robots-Tag"];
                    "Access-Control-Allow-Origin": components["headers"]["Access-Control-Allow-Origin"];
                    "Access-Control-Expose-Headers": components["headers"]["Access-Control-Expose-Headers"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
